"""Nodes that a taint leaves out stay in the answer where the others are busy."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.gang import Role
from fourleaf.model.node import Node, Taint
from fourleaf.model.node_constraint import NodeConstraint, Toleration
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import sentence
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from tests.small import gang, node, snapshot
from tests.solver.explain.asking import bert, of_nodes, starts, why


def tainted(name: str, key: str, value: str = "", **fields: object) -> Node:
    """A node of leaf t that a taint keeps pods off."""
    return node(name, "t", taints=(Taint(key, value, "NoSchedule"),), **fields)


def busy(*others: Node) -> Snapshot:
    """A gang of 2 before a leaf of two nodes, both of them held, and `others`."""
    free = (node("a0", "a"), node("a1", "a"))
    return snapshot(of_nodes(*free, *others), gang("g", 2), running=bert("a0", "a1"))


def test_a_taint_is_named_where_enough_other_nodes_match() -> None:
    """Two nodes would do but for their taint: the answer says so beside what is busy."""
    world = busy(tainted("t0", "team", "x"), tainted("t1", "team", "x"))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.count("taint team=x") == 2
    said = sentence(reason)
    assert "needs 2 nodes, 0 are free; 2 nodes left out by taint team=x; nearest: " in said
    tolerates = NodeConstraint(tolerations=(Toleration("team", "Equal", "x"),))
    role = Role(("g-0", "g-1"), Resources(gpus=8), tolerates)
    assert starts(replace(world, gangs=(gang("g", roles=(role,)),)))


def test_only_nodes_that_would_do_else_are_counted() -> None:
    """Cordoned, too small, or with a taint that only repels softly: the taint is not what it is."""
    soft = node("s0", "a", taints=(Taint("soft", "", "PreferNoSchedule"),), cordoned=True)
    reason = why(
        busy(
            tainted("t0", "team", cordoned=True),
            tainted("t1", "team", ready=False),
            tainted("t2", "small", allocatable=Resources(gpus=4)),
            tainted("t3", "team"),
            soft,
        )
    )
    found = {name: n for name, n in reason.counts if "taint" in name}
    assert found == {"taint team": 1}


def test_three_taints_are_named_and_the_rest_is_counted() -> None:
    """Those of most nodes come first; a node with two taints has both in its name."""
    nodes = [tainted(f"t{i}", key) for i, key in enumerate("aaabbcde")]
    two = (Taint("x", "", "NoSchedule"), Taint("y", "", "NoExecute"))
    both = [node(f"u{i}", "t", taints=two) for i in range(4)]
    assert (
        "4 nodes left out by taint x and y, 3 by taint a, 2 by taint b and 3 by other taints"
    ) in sentence(why(busy(*nodes, *both)))


def test_nothing_is_said_of_taints_that_it_tolerates() -> None:
    """A gang that tolerates the taint of a busy node reads as if there was none."""
    free = [node(f"a{i}", "a", taints=(Taint("team", "x", "NoSchedule"),)) for i in (0, 1)]
    tolerates = NodeConstraint(tolerations=(Toleration("team", "Exists"),))
    role = Role(("g-0", "g-1"), Resources(gpus=8), tolerates)
    waits = gang("g", roles=(role,))
    reason = why(snapshot(of_nodes(*free), waits, running=bert("a0", "a1")))
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert "taint" not in sentence(reason)
