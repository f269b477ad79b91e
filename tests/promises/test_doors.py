"""Names that users of older schedulers type: targets of make, scripts, charts, files, labels."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

from fourleaf.cli.main import app
from tests.deploy.generated import CHARTS, DEPLOY, rendered
from tests.deploy.tools import run

ROOT = Path(__file__).parents[2]
TARGETS = ("test", "unit", "e2e", "fix-nodes", "generate")
FILES = (
    "LICENSE",
    "CONTRIBUTING.md",
    "TROUBLESHOOTING.md",
    "OPTIMIZATION_COMPARISON.md",
    "docs/architecture.md",
)
UNTAUGHT = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
IMAGE = "build --platform {} -f deploy/images/Dockerfile --target {} -t {}{}:0.1.0 ."
IMAGES = ("fourleaf", "fourleaf-webhook", "fourleaf-agent", "gpu-scheduler-check")
RELEASE = (
    "upgrade --install fourleaf deploy/charts/fourleaf --namespace {} --create-namespace "
    "--set image.repository=fourleaf,image.tag=0.1.0 "
    "--set webhook.image.repository=fourleaf-webhook,agent.image.repository=fourleaf-agent"
)
CHECK = (
    "upgrade --install gpu-scheduler-check deploy/charts/gpu-scheduler-check --namespace default "
    "-f deploy/charts/gpu-scheduler-check/aks-values.yaml "
    "--set image.repository=gpu-scheduler-check,image.tag=0.1.0"
)


def said(*command: str | Path, **more: str) -> list[str]:
    """The lines that a command prints, run at the top of the repository with more variables."""
    environment = UNTAUGHT | more
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return [line.strip() for line in done.stdout.splitlines()]


def make(*words: str) -> list[str]:
    """The lines of `make`, which echoes what it would have docker and helm do."""
    return said("make", "-s", "DOCKER=echo", "HELM=echo", *words)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_there(target: str) -> None:
    """Each is explained by `make` alone, too."""
    assert re.search(rf"^{target}:.* ## \S", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_build_makes_programs_that_are_the_scheduler(tmp_path: Path) -> None:
    """With the options that it has.

    The controller is a replica beside it, which repairs and places where the other does not lead.
    It listens at another port, so that both run on one machine, unless it is told where.
    """
    echo = f"FOURLEAF={os.path.relpath('/bin/echo', ROOT)}"
    make("build", echo, f"BIN={tmp_path / 'bin'}", f"DIST={tmp_path}")
    assert len(list(tmp_path.glob("fourleaf-*.whl"))) == 1
    verb = typer.main.get_command(app).commands["run"]
    for program, options, port in (
        ("scheduler", ["--scheduler-name=topology-aware-scheduler"], 8080),
        ("controller", [], 8081),
        ("controller", ["--listen=127.0.0.1:1"], 1),
    ):
        (line,) = said(tmp_path / "bin" / program, "--kubeconfig=config", *options)
        name, *words = line.split()
        given = verb.make_context(name, words).params
        assert (name, given["kubeconfig"]) == ("run", "config")
        assert given["listen"] == f"127.0.0.1:{port}"


def test_the_scheduler_runs_by_its_file() -> None:
    """From its folder, by the Python of the system."""
    command = ("python3", "scheduler.py", "--context", "kind")
    environment = UNTAUGHT | {"FOURLEAF": "echo"}
    done = subprocess.run(
        command,
        cwd=ROOT / "gpu-scheduler",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "run --context kind\n"


def test_the_scheduler_runs_here() -> None:
    """`make run-local` is `fourleaf run`."""
    assert make("run-local", "FOURLEAF=echo", "WITH=--context kind") == ["run --context kind"]


def test_images_are_built_for_the_platform_that_is_asked_for() -> None:
    """Scheduler, webhook, agent and check service have one each."""
    assert make("docker-build") == [IMAGE.format("linux/amd64", one, "", one) for one in IMAGES]
    both = "PLATFORM=linux/amd64,linux/arm64"
    for target, one in zip(("docker", "docker-webhook", "docker-agent"), IMAGES, strict=False):
        expected = IMAGE.format("linux/amd64,linux/arm64", one, "r.io/", one)
        assert make(target, both, "REGISTRY=r.io/") == [expected]


def test_deploy_installs_into_kube_system() -> None:
    """Or elsewhere; the script does the same, and on AKS the check service comes with it."""
    assert make("deploy") == [RELEASE.format("kube-system")]
    assert said(ROOT / "scripts" / "deploy.sh", "-s", "HELM=echo", "NAMESPACE=x") == [
        RELEASE.format("x")
    ]
    assert make("deploy-aks") == [RELEASE.format("kube-system"), CHECK]


def test_charts_are_found_by_their_earlier_names() -> None:
    """Links, so that no chart stands twice; helm takes them, and the values of AKS."""
    for folder in ("charts", "helm-charts"):
        assert (ROOT / folder / "gpu-scheduler").resolve() == CHARTS / "fourleaf"
        assert (ROOT / folder / "gpu-scheduler-check").resolve() == CHARTS / "gpu-scheduler-check"
    assert (ROOT / "argocd" / "applicationset.yaml").exists()
    values = CHARTS / "gpu-scheduler-check" / "aks-values.yaml"
    run("helm", "lint", "--strict", ROOT / "charts" / "gpu-scheduler")
    run("helm", "lint", "--strict", "-f", values, ROOT / "helm-charts" / "gpu-scheduler-check")


def test_logs_and_config_are_found_in_kube_system() -> None:
    """By both labels that `kubectl logs -l` was given; its config is read where it stands."""
    run("helm", "version")
    objects = rendered("fourleaf", namespace="kube-system")
    (pods,) = (
        one["spec"]["template"]
        for one in objects
        if (one["kind"], one["metadata"]["name"]) == ("Deployment", "fourleaf-scheduler")
    )
    labels = {"app": "topology-scheduler", "app.kubernetes.io/name": "gpu-scheduler"}
    assert labels.items() <= pods["metadata"]["labels"].items()
    assert "--config-namespace=kube-system" in pods["spec"]["containers"][0]["args"]
    assert ("kube-system", "topology-scheduler-config") in [
        (one["metadata"]["namespace"], one["metadata"]["name"])
        for one in objects
        if one["kind"] == "ConfigMap"
    ]


def test_the_script_makes_a_map() -> None:
    """By `fourleaf map generate` and its options; without any, two devices for each pod."""
    script = ROOT / "scripts" / "generate-gpu-mapping.sh"
    assert said(script, FOURLEAF="echo") == ["map generate --devices 2 -o annotation"]
    assert said(script, "--pods=3", FOURLEAF="echo") == ["map generate --pods=3"]


def test_the_environment_names_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """`SCHEDULER_NAME` is what `--scheduler-name` is."""
    monkeypatch.setenv("SCHEDULER_NAME", "gpu-scheduler")
    verb = typer.main.get_command(app).commands["run"]
    assert verb.make_context("run", []).params["scheduler_name"] == ["gpu-scheduler"]


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_there(name: str) -> None:
    """And says something."""
    assert len((ROOT / name).read_text()) > 500


def test_one_file_of_the_folder_is_all_that_is_applied() -> None:
    """The labels stand in the plain manifests, too."""
    made = yaml.safe_load_all((DEPLOY / "fourleaf.yaml").read_text())
    pods = [one["spec"]["template"]["metadata"] for one in made if one["kind"] == "Deployment"]
    asked = {"app.kubernetes.io/name": "gpu-scheduler", "app": "topology-scheduler"}
    assert any(asked.items() <= one["labels"].items() for one in pods)
