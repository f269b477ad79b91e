"""Nodes with and without leaves: which fabric they make, and what is said of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fourleaf.model.fabric import Fabric
from fourleaf.model.readers import InputReading
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from fourleaf.solver.batch.solve import solve
from tests.model.readers.made import LEAF, SPINE, config, node, pod, reading


def leaves(fabric: Fabric) -> list[tuple[str, str, int]]:
    """Each leaf with its spine and how many nodes it has."""
    return [(leaf.name, leaf.spine, len(leaf.nodes)) for leaf in fabric.leaves]


def said(found: InputReading) -> list[str]:
    """Fields and messages of all warnings."""
    return [f"{one.field}: {one.message}" for one in found.problems]


def test_nodes_of_which_none_names_a_leaf_are_one() -> None:
    """A cluster as it comes: two nodes with GPUs share the only leaf, and one warning says so."""
    found = reading(node("n1", None), node("n2", None), node("cpu", None, status={}))
    fabric = found.snapshot.fabric
    assert leaves(fabric) == [("fabric", "fabric", 2)]
    assert (fabric.flat, fabric.unlabelled) == (True, {"n1", "n2"})
    assert said(found) == [
        "spec.topology: finds no leaf: no GPU node has a known label, so all 2 stand in one leaf"
    ]


@pytest.mark.parametrize("name", ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"])
def test_nodes_that_offer_parts_of_gpus_alone_are_in_the_fabric(name: str) -> None:
    """All GPUs of two nodes are cut by MIG, or shared by MPS, 14 parts in all: 14 of 15 start."""
    offer = {name: "7", "pods": "110"}
    container = {"name": "main", "resources": {"limits": {name: "1"}}}
    found = reading(
        node("n1", None, status={"allocatable": offer, "capacity": offer}),
        node("n2", None, status={"allocatable": offer, "capacity": offer}),
        node("cpu", None, status={}),
        *(pod(f"p-{i}", containers=[container]) for i in range(15)),
    )
    assert leaves(found.snapshot.fabric) == [("fabric", "fabric", 2)]
    plan = solve(found.snapshot)
    places = Counter(node for placed in plan.placements for _, node in placed.pods)
    assert places == {"n1": 7, "n2": 7}
    assert len(plan.waiting) == 1


def test_an_edge_across_spines_is_told_to_count_for_nothing() -> None:
    """With leaves alone as levels the same edge joins two leaves of the one spine."""
    bodies = node("n1", "a", "s1"), node("n2", "b", "s2"), pod("g-0"), pod("g-1")
    for body in bodies[2:]:
        body["metadata"]["annotations"] = {GANG: "g", GANG_SIZE: "2"}
    edges = {"kind": "explicit", "edges": [["a", "b"]]}
    found = reading(*bodies, config(topology={"adjacency": edges}))
    (told,) = said(found)
    assert told.startswith("spec.topology.adjacency.edges[0]: joins leaves of spines s1 and s2")
    topology = {"adjacency": edges, "levels": [{"nodeLabel": LEAF}]}
    found = reading(*bodies, config(topology=topology))
    assert said(found) == []
    assert len(found.snapshot.fabric.spines) == 1
    assert solve(found.snapshot).waiting == ()


def test_nodes_without_a_leaf_stand_apart_from_those_that_have_one() -> None:
    """The node without labels is a leaf and a spine of its own, and is named."""
    found = reading(node(), node("n2", None))
    fabric = found.snapshot.fabric
    assert leaves(fabric) == [("n2", "n2", 1), ("leaf-1", "s1", 1)]
    assert (fabric.flat, fabric.unlabelled) == (False, {"n2"})
    assert said(found) == [
        f"spec.topology: finds no leaf of n2, without the label {LEAF}, so each stands apart"
    ]


def test_levels_that_no_node_has_make_a_flat_fabric() -> None:
    """What the config names is what is missed, other labels of the nodes count for nothing."""
    found = reading(node(), config(topology={"levels": [{"nodeLabel": "rack"}]}))
    assert leaves(found.snapshot.fabric) == [("fabric", "fabric", 1)]
    assert "no GPU node has the label rack" in said(found)[0]


def test_a_node_without_its_spine_stands_apart() -> None:
    """The spine that others have is the label that it lacks."""
    alone: dict[str, Any] = {"name": "n2", "labels": {LEAF: "leaf-2"}}
    found = reading(node(), node("n2", metadata=alone))
    assert found.snapshot.fabric.unlabelled == {"n2"}
    assert f"without the label {SPINE}" in said(found)[0]


def test_nodes_that_the_config_refuses_are_left_out_and_named() -> None:
    """`refuse` is a choice and no error: the rest is planned on, and the way back is told."""
    choice = {"unlabelled": "refuse"}
    some = reading(node(), node("n2", None), config(topology=choice))
    assert leaves(some.snapshot.fabric) == [("leaf-1", "s1", 1)]
    assert (some.snapshot.fabric.refused, some.snapshot.fabric.unlabelled) == ({"n2"}, set())
    assert said(some) == [f"spec.topology: refuses n2, without the label {LEAF}: no pods go there"]
    assert some.problems[0].advice.endswith("or set spec.topology.unlabelled to isolate.")
    none = reading(node("n1", None), config(topology=choice))
    assert (none.snapshot.fabric.leaves, none.snapshot.fabric.refused) == ((), {"n1"})
    assert said(none) == [
        "spec.topology: refuses all 1 GPU nodes: no GPU node has a known label, "
        "so they take no pods"
    ]


def test_a_fabric_with_all_labels_says_nothing() -> None:
    """Nothing is unlabelled, and one leaf alone is no flat fabric."""
    found = reading(node())
    assert (found.problems, found.snapshot.fabric.flat) == ((), False)


def test_presets_that_draw_are_told() -> None:
    """Both fit the node; the one that is used is named."""
    labels = {"fabric.topograph.run/tier-0": "a", "topology.k8s.aws/network-node-layer-3": "b"}
    found = reading(node("n1", metadata={"name": "n1", "labels": labels}))
    assert said(found) == [
        "spec.topology.preset: is not set; topograph and eks fit as many nodes each, "
        "and topograph is used"
    ]
