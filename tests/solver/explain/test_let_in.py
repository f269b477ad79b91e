"""Nodes that are cordoned, not ready or tainted: named where the gang would start on them now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.gang import Gang, TopologyPolicy
from fourleaf.model.node import Node, Taint
from fourleaf.model.reasons.kinds import NearMiss, ReasonKind
from fourleaf.model.reasons.text import sentence
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.explain import let_in
from tests.small import gang, node, snapshot
from tests.solver.explain.asking import bert, of_nodes, reasons, starts, why

CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
UNREACHABLE = Taint("node.kubernetes.io/unreachable", "", "NoExecute")
THEIRS = Taint("team", "x", "NoSchedule")
FOUR = gang("g", 4)


def world(*last: Node, waits: Gang = FOUR) -> Snapshot:
    """Three free nodes in leaf `a` beside `last`; leaf `b` of four is full."""
    free = [node(f"a{i}", "a") for i in range(3)]
    full = [node(f"b{i}", "b") for i in range(4)]
    return snapshot(of_nodes(*free, *last, *full), waits, running=bert(*(n.name for n in full)))


def shut(name: str, **fields: object) -> Node:
    """A fourth node of leaf `a`."""
    return node(name, "a", **fields)


@pytest.mark.parametrize("taints", [(), (CORDONED,)], ids=["bare", "as the control plane taints"])
def test_a_cordoned_node_leads_where_it_is_all_that_is_missing(taints: tuple[Taint, ...]) -> None:
    """3 of 4 nodes of a leaf are free: uncordon the fourth, and the nearest is that leaf."""
    before = world(shut("a3", cordoned=True, taints=taints))
    reason = why(before)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.unblock == ("uncordon a3", "it starts when hpc/bert ends")
    assert reason.near[0] == NearMiss("a", 3, 4)
    assert "1 node left out by a cordon; nearest: 3 of 4 nodes free in a" in sentence(reason)
    assert starts(world(shut("a3")))


@pytest.mark.parametrize(
    "taints", [(), (UNREACHABLE,)], ids=["bare", "as the control plane taints"]
)
def test_a_node_that_is_not_ready_leads_as_well(taints: tuple[Taint, ...]) -> None:
    """The same leaf, whose fourth node has to come back."""
    reason = why(world(shut("a3", ready=False, taints=taints)))
    assert reason.unblock[0] == "bring a3 back to ready"
    assert "1 node left out by not being ready" in sentence(reason)


def test_a_node_whose_record_is_sealed_leads_as_well() -> None:
    """The same leaf: the fourth node is ready, and nothing can be recorded for it."""
    reason = why(world(shut("a3", sealed=True)))
    assert reason.unblock[0].startswith("mend the scheduler's record of a3, ")
    text = "1 node left out by a record that cannot be read or written; nearest: 3 of 4 nodes free"
    assert text in sentence(reason)


def test_a_taint_whose_toleration_gives_a_place_stands_among_the_steps() -> None:
    """It comes after what others can do: a taint is there on purpose."""
    reason = why(world(shut("a3", taints=(THEIRS,))))
    assert reason.unblock == ("it starts when hpc/bert ends", "tolerate taint team=x")


def test_only_nodes_that_it_takes_are_named() -> None:
    """Of two cordoned nodes of the leaf one is enough; that of another leaf helps nobody."""
    nodes = [shut("a8", cordoned=True), shut("a9", cordoned=True)]
    nodes += [shut(f"a{i}") for i in range(3)] + [node("c0", "c", cordoned=True)]
    full = [node(f"b{i}", "b") for i in range(4)]
    before = snapshot(of_nodes(*nodes, *full), FOUR, running=bert(*(n.name for n in full)))
    assert why(before).unblock[0] == "uncordon a8"


@pytest.mark.parametrize(
    "last",
    [
        (shut("a3", cordoned=True, ready=False),),
        (shut("a3", cordoned=True, taints=(THEIRS,)),),
        (shut("a3", cordoned=True, held_back="nobody knows its devices"),),
        (shut("a3", cordoned=True, sealed=True),),
        (shut("a3", cordoned=True, allocatable=Resources(gpus=4)),),
        (node("c0", "c", cordoned=True),),
    ],
    ids=["not ready", "tainted", "held back", "sealed", "too small", "in another leaf"],
)
def test_nothing_is_advised_that_would_not_start_it(last: tuple[Node, ...]) -> None:
    """A node that something else keeps it off, or that stands where no legal place is."""
    assert why(world(*last)).unblock == ("it starts when hpc/bert ends",)


def test_a_cordoned_node_that_others_hold_is_no_room() -> None:
    """Its pods still run there: without the cordon nothing is free."""
    before = world(shut("a3", cordoned=True))
    before = replace(before, running=(*before.running, *bert("a3")))
    reason = why(before)
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert "1 node left out by a cordon" in sentence(reason)


def test_a_gang_that_may_use_any_leaves_names_the_node_too() -> None:
    """Under `Preferred` one free node in each of two leaves, and a cordoned one, hold three."""
    waits = gang("g", 3, policy=TopologyPolicy.PREFERRED)
    nodes = [node("a0", "a"), node("b0", "b"), node("b1", "b"), node("c0", "c", cordoned=True)]
    reason = why(snapshot(of_nodes(*nodes), waits, running=bert("b1")))
    assert reason.unblock[0] == "uncordon c0"


def test_who_is_outranked_is_told_of_the_node_as_well() -> None:
    """The higher gang takes the free nodes; the cordoned pair would hold the other one."""
    pair = [node(f"c{i}", "c", cordoned=True) for i in range(2)]
    nodes = [node(f"a{i}", "a") for i in range(2)]
    high, low = gang("high", 2, priority=100), gang("low", 2)
    reason = reasons(snapshot(of_nodes(*nodes, *pair), high, low))["low"]
    assert reason.kind is ReasonKind.OUTRANKED
    assert reason.unblock[0] == "uncordon c0 and c1"


def test_many_kinds_of_gang_are_not_all_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenant could submit a thousand, each of which takes as long as a question of its own."""
    monkeypatch.setattr(let_in, "MOST_ASKED", 1)
    before = world(shut("a3", cordoned=True))
    small = replace(gang("h", 4), roles=(replace(gang("h", 4).roles[0], request=Resources(7)),))
    steps = [one.unblock[0] for one in reasons(replace(before, gangs=(FOUR, small))).values()]
    assert sorted(steps) == ["it starts when hpc/bert ends", "uncordon a3"]
