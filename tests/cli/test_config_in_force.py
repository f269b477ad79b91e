"""The config in force, on the twin: the ConfigMap, or what a Lease keeps after a bad edit."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import yaml

from fourleaf.cli.cluster.read_cluster import ClusterAccess, Live, read_live
from fourleaf.cli.render.status import cluster_lines
from fourleaf.cli.verbs.status import document_of
from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES, NAMESPACES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, actors
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.model.problems import BadInput
from tests.cli.conftest import Run
from tests.cli.made import text
from tests.twins.virtual_clock import VirtualClock

LEADER = {"holder": "", "epoch": 0, "renewed": "", "seconds": 0.0, "valid": False}
WRONG = {"solver": {"seed": -1}}
"""A spec that no scheduler takes: seeds are 0 and above."""


async def cluster(spec: dict[str, Any] | None, kept: dict[str, Any] | None = None) -> MemoryCluster:
    """Four nodes; the ConfigMap holds `spec`, the Lease of the installed scheduler `kept`."""
    made = MemoryCluster()
    await made.create(NAMESPACES, "", {"metadata": {"name": "fourleaf-system"}})
    await actors.add_nodes(made, actors.nodes(1, 2, 2))
    if spec is not None:
        manifest = {
            "apiVersion": "topology.scheduler/v1alpha1",
            "kind": "SchedulerConfig",
            "spec": spec,
        }
        body = {
            "metadata": {"name": "topology-scheduler-config"},
            "data": {"config.yaml": json.dumps(manifest)},
        }
        await made.create(CONFIG_MAPS, "kube-system", body)
    if kept is not None:
        lease = StateLease(made, "fourleaf-system", "fourleaf-config", VirtualClock())
        await lease.save({"spec": kept})
    return made


async def live(made: MemoryCluster) -> Live:
    """What the cluster holds."""
    return await read_live(made, ClusterAccess())


def reachable(made: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let verbs reach `made`, whatever kubeconfig they are given."""

    async def connect(*_: object) -> MemoryCluster:
        return made

    monkeypatch.setattr("fourleaf.k8s_bridge.cluster.live.connect", connect)


async def test_a_good_edit_is_in_force_whatever_is_kept() -> None:
    """The Lease is asked only where the ConfigMap makes no sense."""
    found = await live(await cluster({"solver": {"seed": 7}}, {"solver": {"seed": 3}}))
    assert found.reading().snapshot.config.spec.solver.seed == 7
    assert list(found.config.warnings) == []


async def test_a_bad_edit_leaves_the_last_good_config_in_force() -> None:
    """Seed 3 of the Lease counts, and one warning names the field, its value and the source."""
    found = await live(await cluster(WRONG, {"solver": {"seed": 3}}))
    reading = found.reading()
    assert reading.snapshot.config.spec.solver.seed == 3
    assert not [one for one in reading.problems if "Config" in one.object]
    (warning,) = found.config.warnings
    assert not warning.is_error
    assert (warning.field, warning.value) == ("spec.solver.seed", "-1")
    assert warning.message.endswith(
        "; the edit is not used, in force is the last good one, "
        "of Lease fourleaf-system/fourleaf-config"
    )


async def test_all_that_is_wrong_is_one_warning() -> None:
    """Two fields are wrong: the first is named, the other is counted."""
    wrong = {"solver": {"seed": -1}, "batch": {"size": -1}}
    (warning,) = (await live(await cluster(wrong, {}))).config.warnings
    assert "(and 1 more)" in warning.message


async def test_without_a_good_one_the_defaults_are_in_force() -> None:
    """As for a scheduler that starts now; the warning says where none was found."""
    found = await live(await cluster(WRONG))
    assert found.reading().snapshot.config.spec.solver.seed == 1
    (warning,) = found.config.warnings
    assert (
        "built-in defaults, for no Lease fourleaf-config of kube-system, fourleaf-system keeps"
        in (warning.message)
    )


@pytest.mark.parametrize("content", ["", "{", '{"spec": {"solver": {"seed": -1}}}'])
async def test_a_lease_that_makes_no_sense_keeps_nothing(content: str) -> None:
    """Neither does the scheduler go by it: the defaults are in force."""
    made = await cluster(WRONG)
    said = {"alloc.gpu.scheduling/content": content}
    body = {"metadata": {"name": "fourleaf-config", "annotations": said}, "spec": {}}
    await made.create(LEASES, "fourleaf-system", body)
    assert (await live(made)).config.source.startswith("built-in defaults, for no Lease")


async def test_a_lease_that_may_not_be_read_is_no_licence_to_guess(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is in force is unknown then: the wrong field is named, and the right that is missing."""
    made = await cluster(WRONG, {"solver": {"seed": 3}})
    get = made.get

    async def refusing(kind: Any, target: Target) -> Any:
        if kind == LEASES:
            raise Refused("forbidden", 403)
        return await get(kind, target)

    monkeypatch.setattr(made, "get", refusing)
    with pytest.raises(BadInput) as bad:
        await live(made)
    assert [one.field for one in bad.value.problems] == ["spec.solver.seed", ""]
    assert "right to get leases" in bad.value.problems[1].advice


async def test_status_shows_the_config_in_force_and_what_is_wrong_with_the_edit() -> None:
    """The document has the form of the scheduler's own `/status`; people get one line."""
    document = document_of(await live(await cluster(WRONG, {})), LEADER)
    assert document["config"]["valid"] is False
    assert document["config"]["problems"][0]["field"] == "spec.solver.seed"
    (line,) = [
        one for one in text(cluster_lines(document, 0.0), 400).splitlines() if "config" in one
    ]
    assert "the last good one, of Lease fourleaf-system/fourleaf-config" in line
    assert "the newest edit is not used: spec.solver.seed: " in line
    good = document_of(await live(await cluster({})), LEADER)["config"]
    source = "ConfigMap kube-system/topology-scheduler-config"
    assert good == {"source": source, "valid": True, "problems": []}


def test_verbs_go_on_with_the_last_good_config(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`plan` and `drain` answer, and say once on standard error which field is wrong."""
    reachable(asyncio.run(cluster(WRONG, {"solver": {"seed": 3}})), monkeypatch)
    for words in (("plan",), ("drain", "spine-0"), ("score",), ("drain", "spine-0", "--apply")):
        result = run(*words)
        assert result.exit_code == 0, result.output
        assert result.stderr.count("warning: ") == 1
        assert "spec.solver.seed = -1" in result.stderr


def test_config_verbs_read_the_cluster(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file they tell of the ConfigMap, and name it as their source."""
    reachable(asyncio.run(cluster({"solver": {"seed": 7}})), monkeypatch)
    source = "ConfigMap kube-system/topology-scheduler-config"
    shown = run("config", "show")
    assert shown.stdout.startswith(f"# {source}\n")
    assert yaml.safe_load(shown.stdout)["spec"]["solver"]["seed"] == 7
    assert run("config", "validate").stdout == f"{source}: valid\n"
    assert run("config", "explain").stdout.startswith(source)


def test_config_verbs_after_a_bad_edit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`show` prints what is in force and warns; `validate` judges the edit: it is not valid."""
    reachable(asyncio.run(cluster(WRONG, {"solver": {"seed": 3}})), monkeypatch)
    shown = run("config", "show")
    assert shown.stdout.startswith("# the last good one, of Lease fourleaf-system/fourleaf-config")
    assert yaml.safe_load(shown.stdout)["spec"]["solver"]["seed"] == 3
    assert shown.stderr.count("warning: ") == 1
    checked = run("config", "validate")
    assert (checked.exit_code, checked.stdout) == (2, "")
    assert "error: the usual kubeconfig: ConfigMap kube-system/" in checked.stderr
    assert "in force is the last good one" in checked.stderr


def test_config_verbs_without_a_config_map(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The defaults are in force, and are called so."""
    reachable(asyncio.run(cluster(None)), monkeypatch)
    assert run("config", "validate").stdout == "built-in defaults: valid\n"


def test_config_verbs_without_a_cluster(run: Run) -> None:
    """The defaults stand in for nothing: the advice names both ways out."""
    result = run("config", "show", "--kubeconfig", "/nowhere")
    assert result.exit_code == 2
    assert "with -f, or ask for the built-in ones with --defaults." in result.stderr
    assert run("config", "show", "-f", "x.yaml", "--defaults").exit_code == 2
