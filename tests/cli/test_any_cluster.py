"""Clusters as they come: nodes that name no leaf, and what the command says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fourleaf.cli.cluster.read_cluster import Live
from fourleaf.cli.render.status import cluster_lines
from fourleaf.cli.verbs.status import document_of
from tests.cli.conftest import Run
from tests.cli.made import text
from tests.model.readers.made import Body, config, node, pod

LEADER = {"holder": "", "epoch": 0, "renewed": "", "seconds": 0.0, "valid": False}
REFUSE = config(topology={"unlabelled": "refuse"})


def written(tmp_path: Path, *bodies: Body) -> Path:
    """A file with these objects."""
    path = tmp_path / "now.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies}))
    return path


def status_lines(*bodies: Body) -> list[str]:
    """What `status` says of a cluster with these objects."""
    document = document_of(Live(bodies, 0.0), LEADER)
    return [line.strip() for line in text(cluster_lines(document, 0.0), 400).splitlines()]


def test_a_cluster_whose_nodes_are_refused_is_told_all_the_same(run: Run, tmp_path: Path) -> None:
    """Nothing is placed, every verb shows the gang, and `why` says what would let it start."""
    path = written(tmp_path, node("n1", None), node("n2", None), pod("p", 8), REFUSE)
    why = run("why", "ml/p", "-f", path)
    said = " ".join(why.stdout.split())
    assert why.exit_code == 3, why.output
    assert "2 nodes without a leaf, which the config refuses" in said
    assert "label n1 and n2 with their leaf, or set spec.topology.unlabelled to isolate" in said
    queue = run("queue", "-f", path)
    assert (queue.exit_code, "ml/p" in queue.stdout) == (0, True)
    assert run("plan", "-f", path).exit_code == 3


def test_status_counts_no_leaf_for_a_node_that_stands_apart() -> None:
    """Two nodes share a leaf, three name none; where no node names one, all stand in one."""
    some = (node("n1"), node("n2"), *(node(f"p{i}", None) for i in range(3)))
    assert any("5, 5 schedulable; 1 leaf, 1 spine" in line for line in status_lines(*some))
    none = (node("n1", None), node("n2", None))
    assert any("2, 2 schedulable; 1 leaf, 1 spine" in line for line in status_lines(*none))


@pytest.mark.parametrize(
    ("bodies", "line"),
    [
        (
            (node("n1", None), node("n2", None)),
            "none names a leaf, so all stand in one; see `fourleaf topology check`",
        ),
        (
            (node("n1"), node("n2", None)),
            "1 without a leaf, each of which stands apart; see `fourleaf topology check`",
        ),
        (
            (node("n1"), node("n2", None), REFUSE),
            "1 more without a leaf, which take no pods by the config; "
            "see `fourleaf topology check`",
        ),
        (
            (node("n1", None), REFUSE),
            "1 more without a leaf, which take no pods by the config; "
            "see `fourleaf topology check`",
        ),
        (
            (node("n1"), node("cpu", None, status={})),
            "1 more without GPUs: no device plugin announces any, no inventory and no device map "
            "names one",
        ),
    ],
)
def test_status_says_how_nodes_are_used(bodies: tuple[Body, ...], line: str) -> None:
    """Without a leaf flat, apart, or refused; or without GPUs: one line each."""
    assert line in status_lines(*bodies)


@pytest.mark.parametrize(
    ("bodies", "kind", "advice"),
    [
        ((node("n1", None), node("n2", None)), "FlatFabric", "topology apply SOURCE"),
        ((node("n1"), node("n2", None)), "NodeWithoutLeaf", "topology apply SOURCE"),
        ((node("n1", None), REFUSE), "NodeRefused", "spec.topology.unlabelled to isolate"),
        ((node("n1", None, status={}), node("n2", None, status={})), "FlatFabric", "CSV"),
    ],
)
def test_topology_check_says_how_nodes_without_a_leaf_are_used(
    run: Run, tmp_path: Path, bodies: tuple[Body, ...], kind: str, advice: str
) -> None:
    """Flat, apart, or refused, each with the import that would mend it, from files too."""
    checked = run("topology", "check", written(tmp_path, *bodies))
    assert checked.exit_code == 3, checked.output
    assert f"finding: {kind}: nodes " in checked.stdout
    assert advice in " ".join(checked.stdout.split())


def test_nodes_without_gpus_are_an_answer(run: Run, tmp_path: Path) -> None:
    """Where no node has any, `plan`, `why` and `score` say that the gang waits and why."""
    bare = node("n1", None, status={"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}})
    path = written(tmp_path, bare, pod("p", 8))
    for verb in (["plan"], ["why", "ml/p"], ["score"]):
        said = run(*verb, "-f", path)
        assert said.exit_code == 3, said.output
        assert "NoMatchingNodes" in said.stdout
        assert "Node n1: status.allocatable: has no GPUs" in said.stderr
    alone = run("plan", "-f", written(tmp_path, pod("p", 8)))
    assert (alone.exit_code, "holds no node to plan on" in alone.stderr) == (2, True)
