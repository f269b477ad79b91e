"""The manifests of a study on a cluster call the command as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from fourleaf.cli.main import app

TUNE = Path(__file__).parents[2] / "deploy" / "tune"
FILES = ("job", "report")


def job_of(name: str) -> dict[str, Any]:
    """The Job of a file."""
    bodies = yaml.safe_load_all((TUNE / f"{name}.yaml").read_text())
    (found,) = (body for body in bodies if body["kind"] == "Job")
    return dict(found)


def container(name: str) -> dict[str, Any]:
    """Its only container."""
    (found,) = job_of(name)["spec"]["template"]["spec"]["containers"]
    return dict(found)


def told(name: str) -> dict[str, Any]:
    """What the command reads from the arguments. Fails for an option that it does not know."""
    verb, *args = container(name)["args"]
    command = typer.main.get_group(app).commands[verb]
    return dict(command.make_context(verb, list(args)).params)


def test_each_worker_has_a_number_of_its_own() -> None:
    """An Indexed Job of workers; the index reaches the command by the variable that it reads."""
    spec = job_of("job")["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] > 1
    assert told("job")["worker"] is True
    command = typer.main.get_group(app).commands["tune"]
    (number,) = (one for one in command.params if one.name == "worker_number")
    (index,) = (one for one in container("job")["env"] if one["name"] == number.envvar)
    path = index["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def test_workers_and_report_hold_the_same_task() -> None:
    """Otherwise the study would refuse the report."""
    worker, report = told("job"), told("report")
    own = {"worker", "pictures", "write_config"}
    assert {key: value for key, value in worker.items() if key not in own} == {
        key: value for key, value in report.items() if key not in own
    }
    assert report["worker"] is False


@pytest.mark.parametrize("name", FILES)
def test_everything_that_is_written_is_on_the_volume(name: str) -> None:
    """The root is read-only: study, pictures and config go to the shared volume."""
    (mount,) = (one for one in container(name)["volumeMounts"] if one["name"] == "tune")
    params = told(name)
    assert params["storage"].startswith(f"journal://{mount['mountPath']}/")
    for option in ("pictures", "write_config"):
        if params[option] is not None:
            assert str(params[option]).startswith(f"{mount['mountPath']}/")


@pytest.mark.parametrize("name", FILES)
def test_pods_meet_the_restricted_level(name: str) -> None:
    """No root, no privileges, no token, nothing written but to volumes."""
    pod = job_of(name)["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(name)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
