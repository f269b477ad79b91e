"""The map of small fabrics, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.dashboard.views.fabric import FabricMap, FabricView
from fourleaf.dashboard.views.marks import Marks
from fourleaf.model.devices.free import all_of
from fourleaf.model.devices.layout import Device, layout_of
from fourleaf.model.fabric import AdjacencyKind, Leaf
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources
from tests.dashboard.made import moment, node, runs


def cells(view: FabricView) -> list[tuple[str, str, int, list[tuple[str, int]]]]:
    """Name, state, free GPUs and (gang, GPUs) side by side of each node."""
    return [
        (one.name, one.state, one.free, [(b.gang, b.gpus) for b in one.blocks])
        for row in view.spines
        for leaf in row.leaves
        for one in leaf.nodes
    ]


def test_who_holds_what() -> None:
    """By devices where they are known, else the first that are free; others by their pod."""
    nodes = (node("a"), node("b"), node("c", gpus=0))
    running = [
        runs("x", "a", 2, "g", (4, 5)),
        runs("y", "a", 3, "h"),
        runs("z", "b", 8),
        runs("cpu", "c", 0),
    ]
    view = FabricMap("here", Marks()).view(moment([Leaf("l0", "s0", nodes)], running))
    assert cells(view) == [
        ("a", "partly", 3, [("ml/h", 3), ("", 1), ("ml/g", 2), ("", 2)]),
        ("b", "busy", 0, [("ml/z", 8)]),
        ("c", "partly", 0, []),
    ]
    label = view.spines[0].leaves[0].nodes[0].label
    assert label == "a: partly used, 3 of 8 GPUs free, ml/h holds 3, ml/g holds 2"
    totals = view.totals
    assert (totals.gpus, totals.used, totals.nodes, totals.running) == (16, 13, 3, 2)


def test_devices_are_told_by_their_numbers_where_some_are_missing() -> None:
    """The node has 1, 3 and 5; g holds 5, and h, which says nothing, the first that is left."""
    devices = all_of(layout_of([Device(1), Device(3), Device(5)]))
    room = Resources(gpus=3, cpu=1, memory=1, pods=9, devices=devices)
    running = [runs("x", "a", 1, "g", (5,)), runs("y", "a", 1, "h")]
    view = FabricMap("here", Marks()).view(
        moment([Leaf("l0", "s0", (Node("a", "l0", "s0", room),))], running)
    )
    assert cells(view) == [("a", "partly", 1, [("ml/h", 1), ("", 1), ("ml/g", 1)])]


def test_nodes_that_nobody_may_use() -> None:
    """Not ready before cordoned before held back; a leaf with one of them is not whole."""
    nodes = (
        node("a", ready=False, cordoned=True),
        node("b", cordoned=True),
        node("c", held_back="no inventory"),
    )
    whole = Leaf("l1", "s0", (node("d", "l1"),))
    view = FabricMap("here", Marks()).view(moment([Leaf("l0", "s0", nodes), whole]))
    assert [state for _, state, _, _ in cells(view)] == ["down", "cordoned", "held", "free"]
    assert [leaf.whole for leaf in view.spines[0].leaves] == [False, True]
    assert (view.totals.schedulable, view.totals.whole_leaves) == (1, 1)


def test_more_pods_than_a_node_has_room_for() -> None:
    """Somebody overcommitted it: nothing is drawn beyond its GPUs."""
    running = [runs("x", "a", 2, "g", (7, 9)), runs("y", "a", 9, "h")]
    view = FabricMap("here", Marks()).view(moment([Leaf("l0", "s0", (node("a"),))], running))
    assert cells(view) == [("a", "busy", 0, [("ml/h", 7), ("ml/g", 1)])]


def test_which_leaves_are_adjacent() -> None:
    """Neighbours of one spine; with edges of their own, those alone, whichever way they read."""
    leaves = [Leaf(f"l{i}", "s0" if i < 3 else "s1", (node(f"n{i}", f"l{i}"),)) for i in range(5)]

    def joined(**fabric: object) -> list[bool]:
        view = FabricMap("here", Marks()).view(moment(leaves, **fabric))
        return [leaf.joined for row in view.spines for leaf in row.leaves]

    assert joined() == [False, True, True, False, True]
    edges = frozenset({("l2", "l1"), ("l0", "l2")})
    told = joined(adjacency=AdjacencyKind.EXPLICIT, edges=edges)
    assert told == [False, False, True, False, False]


def test_the_load_of_uplinks() -> None:
    """A gang on two nodes here and one there takes its bandwidth per node from each uplink."""
    leaves = [
        Leaf("l0", "s0", (node("a"), node("b")), uplink=400_000),
        Leaf("l1", "s0", (node("c", "l1"),)),
    ]
    running = [runs(name, where, 8, "g") for name, where in (("x", "a"), ("y", "b"), ("z", "c"))]
    wide = [replace(pod, bandwidth=100_000) for pod in running]
    view = FabricMap("here", Marks()).view(moment(leaves, wide))
    first, second = view.spines[0].leaves
    assert (first.uplink_used_mbit, first.uplink_mbit) == (200_000, 400_000)
    assert (second.uplink_used_mbit, second.uplink_mbit) == (100_000, None)


def test_large_nodes_are_drawn_to_scale() -> None:
    """72 GPUs in 16 parts at most; a single one is still seen."""
    running = [runs("x", "a", 1, "g"), runs("y", "a", 36, "h")]
    view = FabricMap("here", Marks()).view(
        moment([Leaf("l0", "s0", (node("a", gpus=72),))], running)
    )
    (cell,) = view.spines[0].leaves[0].nodes
    assert [(b.gpus, b.width) for b in cell.blocks] == [(1, 1), (36, 7), (35, 7)]
