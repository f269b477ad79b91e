"""`fourleaf topology` on files, and labels on the twin."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.topology.labels import apply_diff, target_levels
from fourleaf.cli.topology.source import read_objects
from fourleaf.cli.topology.verb import _confirm
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, MemoryStore, actors
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.config.spec import Topology
from fourleaf.model.config.topology_presets import PRESETS
from fourleaf.model.problems import BadInput
from fourleaf.model.topology_import.cluster_nodes import ClusterNode
from fourleaf.model.topology_import.labels import difference, preset_levels
from tests.cli.conftest import Run
from tests.model.readers.topology.made import status, topology
from tests.model.topology_import.made import rails

Write = Callable[[str, str], Path]
SPINE, LEAF = PRESETS["plain"][0]
PLAIN = preset_levels("plain")
TOPOGRAPH = "fabric.topograph.run/tier-0"
CONF = "SwitchName=s1 Switches=l[1-2]\nSwitchName=l1 Nodes=n[1-4]\nSwitchName=l2 Nodes=n[5-8]\n"


def node(name: str, gpus: int = 8, **labels: str) -> dict[str, Any]:
    """A node with GPUs."""
    amounts = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    metadata = {"name": name, "labels": labels}
    status = {"allocatable": amounts}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def test_every_output_tells_the_same(run: Run, write: Write) -> None:
    """Data, labels and CSV; what CSV says is read again as the same fabric."""
    path = write("topology.conf", CONF)
    whole = json.loads(run("topology", "import", path, "-o", "json").stdout)
    assert (whole["kind"], whole["format"], whole["findings"]) == (
        "FabricDescription",
        "slurm-conf",
        [],
    )
    assert whole["nodes"][4] == {
        "order": 4,
        "node": "n5",
        "leaf": "l2",
        "spine": "s1",
        "core": "",
        "accelerator": "",
    }
    assert yaml.safe_load(run("topology", "import", path, "-o", "yaml").stdout) == whole
    labels = run("topology", "import", path, "-o", "labels").stdout.splitlines()
    assert labels[0] == f"n1 {LEAF}=l1 {SPINE}=s1"
    assert len(labels) == 8
    other = run("topology", "import", path, "-o", "labels", "--preset", "topograph").stdout
    assert other.startswith("n1 fabric.topograph.run/tier-0=l1 fabric.topograph.run/tier-1=s1\n")
    text = run("topology", "import", path, "-o", "csv").stdout
    assert len(list(csv.reader(io.StringIO(text)))) == 9
    again = json.loads(run("topology", "import", "-", "-o", "json", input=text.encode()).stdout)
    assert again["nodes"] == whole["nodes"]


def test_the_table_has_a_line_for_each_leaf(run: Run, write: Write) -> None:
    """Hosts as a hostlist; a rail-optimised fabric says so."""
    shown = run("topology", "import", write("topology.conf", CONF)).stdout
    assert "8 nodes, 2 leaves, 1 spine" in shown
    assert "n[1-4]" in shown
    shown = run("topology", "import", write("ib.txt", rails(2, 4).text())).stdout
    assert "leaf-1-x  4     gpu-1-[1-4]" in shown
    assert "note: RailUnits: rail-optimised, up to 8 rails" in shown


def test_check_ends_with_0_or_3(run: Run, write: Write) -> None:
    """A sound fabric, one that asks for a note alone, and one with a node missing."""
    assert run("topology", "check", write("a", CONF)).exit_code == 0
    noted = run("topology", "check", write("b", rails(2, 4).text()))
    assert (noted.exit_code, "no findings" in noted.stdout) == (0, True)
    odd = run("topology", "check", write("c", CONF.replace("n[5-8]", "n[5-7]")))
    assert odd.exit_code == 3
    assert "LeafTooSmall" in odd.stdout
    words = ("topology", "check", write("c", CONF.replace("n[5-8]", "n[5-7]")), "-o", "json")
    document = json.loads(run(*words).stdout)
    kinds = {one["kind"]: one for one in document["findings"]}
    assert set(kinds) == {"UnevenLeaves", "LeafTooSmall"}
    assert kinds["LeafTooSmall"]["names"] == ["l2 (3)"]
    assert document["nodes"] == 7


def test_check_tells_what_agents_discovered(run: Run, write: Write) -> None:
    """Leaves by switches are a note; a switch with nodes of two labelled leaves is a finding."""
    seen = {"n1": "x", "n2": "x", "n3": "y", "n4": "y", "n5": "y"}
    told = [status(name, topology(switch)) for name, switch in seen.items()]

    def check(labels: dict[str, str]) -> dict[str, list[str]]:
        nodes = [node(name, **({LEAF: labels[name]} if name in labels else {})) for name in seen]
        whole = {"apiVersion": "v1", "kind": "List", "items": [*nodes, *told]}
        shown = run("topology", "check", write("nodes.json", json.dumps(whole)), "-o", "json")
        document = json.loads(shown.stdout)
        assert document["nodes"] == 5
        return {one["kind"]: one["names"] for one in document["findings"]}

    assert check({}) == {"LeavesDiscovered": ["lldp"], "UnevenLeaves": ["x (2)"]}
    by_label = check({"n1": "a", "n3": "a", "n4": "b", "n2": "a"} | {"n5": "b"})
    assert by_label["SwitchInTwoLeaves"] == ["y (a and b)"]
    assert check({"n1": "a", "n3": "b", "n4": "b"})["NodeDiscovered"] == ["n2", "n5"]


def test_hosts_are_matched_with_nodes(run: Run, write: Write) -> None:
    """A domain is stripped; who matches nobody is listed on both sides, and ends with 3."""
    items = [node(f"n{number}.hpc.local") for number in range(1, 8)] + [node("new"), node("ctl", 0)]
    nodes = write("nodes.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    result = run("topology", "import", write("t", CONF), "--nodes", nodes, "-o", "json")
    assert result.exit_code == 3
    whole = json.loads(result.stdout)
    assert whole["unmatched"] == {"hosts": ["n8"], "nodes": ["new"]}
    assert [one["node"] for one in whole["nodes"]] == [f"n{n}.hpc.local" for n in range(1, 8)]
    shown = run("topology", "import", write("t", CONF), "--nodes", nodes).stdout
    assert "1 hosts have no match: n8" in shown


@pytest.mark.parametrize(
    ("carried", "config", "named", "leaf"),
    [
        ([], {}, None, LEAF),
        ([TOPOGRAPH], {}, None, TOPOGRAPH),
        ([TOPOGRAPH, LEAF], {}, "plain", LEAF),
        ([TOPOGRAPH], {"preset": "plain"}, None, LEAF),
        ([LEAF], {"levels": [{"nodeLabel": "rack"}]}, None, "rack"),
        ([LEAF], {"levels": [{"nodeLabel": "rack"}]}, "topograph", TOPOGRAPH),
    ],
    ids=str,
)
def test_the_labels_are_those_that_the_scheduler_reads(
    carried: list[str], config: dict[str, Any], named: str | None, leaf: str
) -> None:
    """A name first, then the config, then what nodes carry, then the scheduler's own."""
    nodes = [ClusterNode("n", dict.fromkeys(carried, "x"))]
    assert target_levels(nodes, Topology.model_validate(config), named)[1].leaf == leaf


@pytest.mark.parametrize(
    ("carried", "config", "said"),
    [
        ([TOPOGRAPH, LEAF], {}, "labels of several presets"),
        (["cloud.google.com/gce-topology-subblock"], {}, "labels that the cloud writes"),
        ([], {"preset": "gke"}, "labels that the cloud writes"),
    ],
    ids=str,
)
def test_labels_that_are_not_ours_or_not_told_are_refused(
    carried: list[str], config: dict[str, Any], said: str
) -> None:
    """With the advice to name a preset."""
    nodes = [ClusterNode("n", dict.fromkeys(carried, "x"))]
    with pytest.raises(BadInput, match=said) as caught:
        target_levels(nodes, Topology.model_validate(config), None)
    assert "--preset" in caught.value.problems[0].advice


class Terminal(io.StringIO):
    """Standard input that somebody types into."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(("typed", "goes_on"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_terminal_is_asked(typed: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a yes goes on; anything else ends with 2 before a node is touched."""
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    ended: int | None = None
    try:
        _confirm(3, yes=False)
    except typer.Exit as left:
        ended = left.exit_code
    assert ended == (None if goes_on else 2)


@pytest.fixture(name="cluster")
async def _cluster() -> MemoryCluster:
    """Three nodes: one labelled right, one wrong, one of which nobody knows."""
    cluster = MemoryCluster(MemoryStore())
    bodies = [
        node("n1", **{LEAF: "l1", SPINE: "s1"}),
        node("n2", **{LEAF: "old", "team": "ml"}),
        node("x", **{LEAF: "l7"}),
    ]
    await actors.add_nodes(cluster, bodies)
    return cluster


WANTED = {"n1": {LEAF: "l1", SPINE: "s1"}, "n2": {LEAF: "l1", SPINE: "s1"}}


async def labels(cluster: MemoryCluster) -> dict[str, dict[str, str]]:
    """The labels of all nodes."""
    found = await cluster.list(NODES)
    return {one["metadata"]["name"]: one["metadata"]["labels"] for one in found.items}


async def known(cluster: MemoryCluster) -> list[ClusterNode]:
    """The nodes as the verbs see them."""
    return [ClusterNode.of(body) for body in await read_objects(cluster, ClusterAccess())]


async def test_only_nodes_that_change_are_written(cluster: MemoryCluster) -> None:
    """What is right keeps its version; other labels stay; a second time, nothing changes."""
    before = {one["metadata"]["name"]: one for one in (await cluster.list(NODES)).items}
    await apply_diff(cluster, ClusterAccess(), difference(await known(cluster), WANTED, PLAIN))
    assert await labels(cluster) == {
        "n1": {LEAF: "l1", SPINE: "s1"},
        "n2": {LEAF: "l1", SPINE: "s1", "team": "ml"},
        "x": {LEAF: "l7"},
    }
    after = {one["metadata"]["name"]: one for one in (await cluster.list(NODES)).items}
    same = [
        n
        for n in after
        if after[n]["metadata"]["resourceVersion"] == before[n]["metadata"]["resourceVersion"]
    ]
    assert same == ["n1", "x"]
    assert difference(await known(cluster), WANTED, PLAIN).changes == ()


async def test_prune_removes_what_the_source_does_not_give(cluster: MemoryCluster) -> None:
    """And nothing but labels of the preset."""
    diff = difference(await known(cluster), WANTED, PLAIN, prune=True)
    await apply_diff(cluster, ClusterAccess(), diff)
    found = await labels(cluster)
    assert (found["x"], found["n2"]["team"]) == ({}, "ml")


async def test_a_node_that_was_made_anew_is_left_alone(cluster: MemoryCluster) -> None:
    """Another node of the same name may stand elsewhere; all others are labelled."""
    seen = await known(cluster)
    await cluster.delete(NODES, Target("", "n2"))
    await cluster.create(NODES, "", node("n2"))
    wanted = {**WANTED, "x": {LEAF: "l1", SPINE: "s1"}}
    with pytest.raises(BadInput, match="n2"):
        await apply_diff(cluster, ClusterAccess(), difference(seen, wanted, PLAIN))
    found = await labels(cluster)
    assert (found["n2"], found["x"][LEAF]) == ({}, "l1")


def test_nothing_is_pruned_by_a_dump_that_is_cut_off(run: Run, write: Write) -> None:
    """It lacks gpu-2-4, which may well be there: refused before the cluster is asked."""
    text = rails(units=2, nodes=4, rails=1).text()
    whole = write("whole", text)
    cut = write("cut", text[: text.rindex("vendid=")])
    nowhere = ("--yes", "--kubeconfig", write("nowhere", ""))
    refused = run("topology", "apply", cut, "--prune", *nowhere)
    assert refused.exit_code == 2
    assert "--prune: removes no labels by this description, which is cut off" in refused.stderr
    assert "gpu-2-4" in refused.stderr
    for words in ((whole, "--prune"), (cut,)):
        assert "cut off" not in run("topology", "apply", *words, *nowhere).stderr
    told = run("topology", "import", cut)
    assert (told.exit_code, "finding: CutOff" in told.stdout) == (0, True)
