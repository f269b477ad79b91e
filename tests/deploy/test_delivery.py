"""Argo CD, kind, and the list of materials: what they name is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.generated import CHARTS, DEPLOY
from tests.deploy.tools import run

ROOT = DEPLOY.parent


def test_argo_cd_installs_every_chart_the_scheduler_first() -> None:
    """Each application has its chart, and a wave that the strategy waits for."""
    body = yaml.safe_load((DEPLOY / "argocd" / "applicationset.yaml").read_text())
    elements = body["spec"]["generators"][0]["list"]["elements"]
    assert {one["chart"] for one in elements} == {path.name for path in CHARTS.iterdir()}
    waves = {one["chart"]: one["wave"] for one in elements}
    assert waves["fourleaf"] < waves["gpu-scheduler-check"]
    steps = body["spec"]["strategy"]["rollingSync"]["steps"]
    (key,) = {each["key"] for step in steps for each in step["matchExpressions"]}
    assert body["spec"]["template"]["metadata"]["labels"] == {key: "{{ .wave }}"}
    order = [each["values"] for step in steps for each in step["matchExpressions"]]
    assert order == [[wave] for wave in sorted(waves.values())]


def test_charts_are_of_the_version_of_the_package() -> None:
    """The image that they name by default is the one that is built from this tree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for path in CHARTS.iterdir():
        chart = yaml.safe_load((path / "Chart.yaml").read_text())
        assert chart["appVersion"] == project["version"]


def test_the_nodes_of_kind_are_told_apart_from_real_ones() -> None:
    """Its agents keep off the nodes that kwok plays, by the label that those have."""
    nodes = list(yaml.safe_load_all((DEPLOY / "kind" / "nodes.yaml").read_text()))
    text = run("kustomize", "build", DEPLOY / "kustomize" / "overlays" / "kind").stdout
    (agent,) = (one for one in yaml.safe_load_all(text) if one["kind"] == "DaemonSet")
    affinity = agent["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    ((term,),) = (
        each["matchExpressions"]
        for each in affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    )
    assert term["operator"] == "DoesNotExist"
    assert all(term["key"] in node["metadata"]["labels"] for node in nodes)
    args = agent["spec"]["template"]["spec"]["containers"][0]["args"]
    assert [one for one in args if one.startswith("--source")] == ["--source=file"]


def test_the_inventory_for_kind_is_one_that_an_agent_publishes(tmp_path: Path) -> None:
    """Read by the agent itself, it can be relied on."""
    path = DEPLOY / "kustomize" / "overlays" / "kind" / "inventory.yaml"
    main = "from fourleaf.cli.main import main; main()"
    command = [sys.executable, "-c", main, "agent", "--once", "-o", "json"]
    done = subprocess.run([*command, "--from-file", path], capture_output=True, check=True)
    assert len(json.loads(done.stdout)["status"]["gpus"]) == 2


def test_the_list_of_materials_has_every_package_of_the_image(tmp_path: Path) -> None:
    """As `make sbom` writes it: CycloneDX, and what the package depends on with versions."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not beside the interpreter, as it is after `make install`")
    (recipe,) = re.findall(r"uv (export .*cyclonedx[^ ]*) -o ", (ROOT / "Makefile").read_text())
    command = [str(uv), *recipe.split(), "--offline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["bomFormat"] == "CycloneDX"
    listed = {one["name"]: one["version"] for one in document["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[<>=]", one)[0] for one in project["dependencies"]}
    assert wanted <= set(listed)
    assert not {"pytest", "ruff"} & set(listed)


def test_kind_takes_the_cluster_and_would_start_it(tmp_path: Path) -> None:
    """It reads the file, checks it, and gets as far as the first container."""
    done = created(CLUSTER.read_text(), tmp_path)
    assert 'Creating cluster "fourleaf"' in done
    assert MISSING in done


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("role: worker", "rolle: worker", "field rolle not found in type v1alpha4.Node"),
        ("role: worker", "role: worke", '"worke" is not a valid node role'),
        ("leaf-real", "[leaf]", "cannot unmarshal !!seq into string"),
        ("name: fourleaf", "name: Four_leaf", "not a valid cluster name"),
    ],
)
def test_kind_refuses_a_mistake_in_the_cluster(
    right: str, wrong: str, said: str, tmp_path: Path
) -> None:
    """Which shows that it looks at each field before it wants a container."""
    text = CLUSTER.read_text()
    assert right in text
    done = created(text.replace(right, wrong), tmp_path)
    assert said in done
    assert "Creating cluster" not in done


def created(text: str, folder: Path) -> str:
    """What kind says of a cluster of that content, on a machine that runs no containers."""
    docker, config = folder / "docker", folder / "cluster.yaml"
    docker.write_text(NO_DOCKER)
    docker.chmod(0o755)
    config.write_text(text)
    place = {"PATH": str(folder), "KIND_EXPERIMENTAL_PROVIDER": "docker"}
    arguments = ("--config", config, "--kubeconfig", folder / "kubeconfig")
    return run("kind", "create", "cluster", *arguments, code=1, **place).stderr


CLUSTER = DEPLOY / "kind" / "cluster.yaml"
MISSING = "this machine runs no containers"
NO_DOCKER = f"""\
#!/bin/sh
case "$1" in
  info) echo '{{"CgroupVersion": "2"}}' ;;
  ps | inspect) ;;
  *) echo "{MISSING}" >&2; exit 1 ;;
esac
"""
"""A Docker without clusters, which has every image and starts nothing: kind asks first whether
there is one, and judges values only after that."""


def test_checkov_finds_only_what_is_explained(tmp_path: Path) -> None:
    """Each of its complaints is known and has its reason, and no known one is gone."""
    values = "--set=dashboard.enabled=true,dashboard.tokenSecret=token,image.pullPolicy=Always"
    digests = [f"--set={one}image.digest=sha256:{'0' * 64}" for one in ("", "webhook.", "agent.")]
    chart = ("f", CHARTS / "fourleaf", "-n", "system")
    text = run("helm", "template", *chart, values, *digests).stdout
    (tmp_path / "all.yaml").write_text(text)
    (tmp_path / "Dockerfile").write_text((DEPLOY / "images" / "Dockerfile").read_text())
    done = run(
        "checkov", "-d", tmp_path, "--framework", "kubernetes", "dockerfile", "-o", "json",
        "--compact", "--skip-download", code=1,
    )  # fmt: skip
    reports = {one["check_type"]: one["results"] for one in json.loads(done.stdout)}
    assert set(reports) == {"kubernetes", "dockerfile"}
    failed = [one for each in reports.values() for one in each["failed_checks"]]
    assert {one["check_id"] for one in failed} == set(EXPLAINED), failed
    agents = [one["resource"] for one in failed if one["check_id"] == "CKV_K8S_17"]
    assert agents == ["DaemonSet.fourleaf-agent.fourleaf-agent"]


EXPLAINED = {
    "CKV_DOCKER_2": "Kubernetes looks at no HEALTHCHECK; the chart has the probes",
    "CKV_DOCKER_7": "the base is an argument, whose default has tag and digest",
    "CKV_K8S_8": "the pod of `helm test` ends by itself, so nobody probes it",
    "CKV_K8S_9": "likewise",
    "CKV_K8S_11": "a limit on CPU slows a solve down; requests and a limit on memory are set",
    "CKV_K8S_17": "the agent sees which processes use which devices",
    "CKV_K8S_38": "all of them talk to the API server",
    "CKV_K8S_155": "the webhook writes its own authority, by name, and no other configuration",
    "CKV2_K8S_6": "the pod of `helm test` listens to nobody",
}
