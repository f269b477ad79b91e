"""`fourleaf topology` on a real apiserver: the labels of a description reach the nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP, KINDS
from fourleaf.model.config.topology_presets import PRESETS
from tests.cli.conftest import Run, _run  # noqa: F401 - a fixture by name
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import LEAF_LABEL, Fleet, create_fleet

SPINE, LEAF = PRESETS["plain"][0]
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"


@pytest.fixture(scope="module")
def api(module_control_plane: Plane) -> Iterator[Api]:
    """Eight nodes in two leaves of topograph."""
    plane = module_control_plane
    create_fleet(plane.kubeconfig(), Fleet(8))
    with plane.api() as api:
        yield api
        api.delete(f"{CONFIG_MAPS}/{CONFIG_MAP}")


def labels(api: Api, key: str) -> dict[str, str]:
    """Node -> its label `key`, of the nodes that have it."""
    return {
        node["metadata"]["name"]: node["metadata"]["labels"][key]
        for node in api.get("/api/v1/nodes")["items"]
        if key in node["metadata"]["labels"]
    }


def versions(api: Api) -> dict[str, str]:
    """Node -> its resource version."""
    return {
        node["metadata"]["name"]: node["metadata"]["resourceVersion"]
        for node in api.get("/api/v1/nodes")["items"]
    }


def configure(api: Api, preset: str) -> None:
    """Tell the scheduler which labels count."""
    spec = {"topology": {"preset": preset}}
    body = {"apiVersion": API_VERSION, "kind": KINDS[0], "spec": spec}
    api.create(
        CONFIG_MAPS,
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": CONFIG_MAP},
            "data": {"config.yaml": json.dumps(body)},
        },
    )


def test_a_description_becomes_labels(
    run: Run, api: Api, module_control_plane: Plane, tmp_path: Path
) -> None:
    """Looked at first, not without a yes, then only where something differs; and pruned."""
    where = ("--kubeconfig", module_control_plane.kubeconfig())
    names = list(labels(api, LEAF_LABEL))
    assert len(names) == 8
    assert run("topology", "check", *where).exit_code == 0
    conf = tmp_path / "topology.conf"
    tree = "SwitchName=s Switches=new-[1-2]\n"
    conf.write_text(
        f"{tree}SwitchName=new-1 Nodes={','.join(names[:4])}\n"
        f"SwitchName=new-2 Nodes={','.join(names[4:])}\n"
    )
    before = versions(api)
    looked = run("topology", "apply", conf, "--dry-run", *where)
    assert looked.exit_code == 0, looked.output
    assert "8 nodes change" in looked.stdout
    assert f"+ {LEAF_LABEL}=new-2" in looked.stdout
    unsure = run("topology", "apply", conf, *where)
    assert unsure.exit_code == 2
    assert "Say --yes" in unsure.stderr
    assert versions(api) == before

    done = run("topology", "apply", conf, "--yes", "--preset", "plain", *where)
    assert done.exit_code == 0, done.output
    assert "nodes carry labels of topograph too" in done.stdout
    leaves = {name: f"new-{1 + (number >= 4)}" for number, name in enumerate(names)}
    assert labels(api, LEAF) == leaves
    assert set(labels(api, SPINE).values()) == {"s"}
    both = run("topology", "apply", conf, "--yes", *where)
    assert both.exit_code == 2
    assert "plain, topograph" in both.stderr

    drawn = run("topology", "check", *where)
    assert (drawn.exit_code, "PresetsDraw" in drawn.stdout) == (3, True), "two presets fit as well"
    configure(api, "plain")
    settled = run("topology", "apply", conf, *where)
    assert settled.exit_code == 0, settled.output
    assert "0 nodes change, 8 stay as they are" in settled.stdout
    assert "nodes carry labels" not in settled.stdout
    assert run("topology", "check", *where).exit_code == 0

    after = versions(api)
    conf.write_text(
        f"{tree}SwitchName=new-1 Nodes={','.join(names[:3])}\n"
        f"SwitchName=new-2 Nodes={','.join(names[4:])}\n"
    )
    words = ("topology", "apply", conf, "--yes", "--preset", "plain", *where)
    kept = run(*words)
    assert kept.exit_code == 3, "a node matches nobody"
    assert "1 nodes keep labels" in kept.stdout
    assert versions(api) == after
    assert run(*words, "--prune").exit_code == 3
    changed = {name for name, version in versions(api).items() if version != after[name]}
    assert changed == {names[3]}
    del leaves[names[3]]
    assert labels(api, LEAF) == leaves
    assert len(labels(api, LEAF_LABEL)) == 8
