"""Members that run count where they stand, whatever their nodes take anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Role
from fourleaf.model.node import Taint
from fourleaf.model.node_constraint import NodeConstraint, Toleration
from fourleaf.model.plan import PlanStatus
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from fourleaf.model.validator import validate
from fourleaf.solver.batch.solve import solve
from tests.small import WHOLE, fabric, gang, node, seats, snapshot, with_bound
from tests.solver.explain.asking import of_nodes

HALF = replace(WHOLE, gpus=4)

SHUT: dict[str, dict[str, Any]] = {
    "cordoned": {"cordoned": True},
    "not ready": {"ready": False},
    "tainted": {"taints": (Taint("pressure", "", "NoSchedule"),)},
    "shrunk": {"allocatable": HALF},
}


def two_leaves(**shut: Any) -> Fabric:
    """Two leaves of four nodes, of which the first one has changed."""
    rest = (node(f"{leaf}{i}", leaf) for leaf in "ab" for i in range(4) if (leaf, i) != ("a", 0))
    return of_nodes(node("a0", "a", **shut), *rest)


@pytest.mark.parametrize("how", SHUT)
def test_a_member_comes_back_beside_one_on_a_closed_node(how: str) -> None:
    """Three of four run in leaf a, one of them on the closed node: the fourth node is the place."""
    one, running = with_bound(gang("g", 4), "a0", "a1", "a2")
    given = snapshot(two_leaves(**SHUT[how]), one, running=running)
    plan = solve(given)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert validate(given, plan) == ()
    assert [placed.pods for placed in plan.placements] == [seats(one, ["a3"])]


@pytest.mark.parametrize("how", SHUT)
def test_a_member_of_another_role_comes_back_too(how: str) -> None:
    """A leader runs on the closed node, a worker beside it; the other worker has a2."""
    workers = Role(("w-1",), Resources(gpus=4), bound=(("w-0", "a1"),))
    leader = Role((), WHOLE, bound=(("l-0", "a0"),))
    one = gang("g", roles=(leader, workers))
    running = tuple(
        RunningPod("ml", pod, host, role.request, one.key)
        for role in one.roles
        for pod, host in role.bound
    )
    open_nodes = [node(name, "a", allocatable=HALF) for name in ("a1", "a2")]
    where = of_nodes(node("a0", "a", **SHUT[how]), *open_nodes)
    given = snapshot(where, one, running=running)
    plan = solve(given)
    assert plan is not None
    assert validate(given, plan) == ()
    assert [placed.pods for placed in plan.placements] == [(("w-1", "a2"),)]


def test_a_closed_node_takes_none_anew() -> None:
    """Half of the closed node is free; what comes finds a place on the open one alone."""
    role = Role(("g-1", "g-2"), Resources(gpus=4), bound=(("g-0", "a0"),))
    running = (RunningPod("ml", "g-0", "a0", Resources(gpus=4), gang("g", 1).key),)
    where = of_nodes(node("a0", "a", cordoned=True), node("a1", "a"))
    one = gang("g", roles=(role,))
    plan = solve(snapshot(where, one, running=running))
    assert plan is not None
    assert [placed.pods for placed in plan.placements] == [seats(one, ["a1", "a1"])]
    short = solve(snapshot(of_nodes(*where.leaves[0].nodes[:1]), one, running=running))
    assert short is not None
    assert short.placements == ()


def test_a_gang_that_counted_without_it_still_may() -> None:
    """Two of four run in a, one on the closed node; a holds four, yet both others of b are legal.

    Every leaf takes three when empty: without the member, a gang of four has two leaves.
    """
    nodes = [node("a0", "a", cordoned=True), *(node(f"a{i}", "a") for i in (1, 2, 3))]
    others = [node(f"b{i}", "b") for i in range(3)]
    one, running = with_bound(gang("g", 4), "a0", "a1")
    taken = RunningPod("ml", "x", "a3", Resources(gpus=8), None)
    given = snapshot(of_nodes(*nodes, *others), one, running=(*running, taken))
    plan = solve(given)
    assert plan is not None
    assert validate(given, plan) == ()
    assert [placed.pods for placed in plan.placements] == [seats(one, ["a2", "b0"])]


def test_gpus_that_are_held_are_taken_from_no_other_node() -> None:
    """The device plugin of a0 is gone under a leader of 8; the worker has room on a1."""
    leader = Role((), WHOLE, bound=(("l-0", "a0"),))
    worker = Role(("w-0",), Resources(gpus=4))
    one = gang("g", roles=(leader, worker))
    running = (RunningPod("ml", "l-0", "a0", WHOLE, one.key),)
    where = of_nodes(node("a0", "a", allocatable=replace(WHOLE, gpus=0)), node("a1", "a"))
    given = snapshot(where, one, running=running)
    plan = solve(given)
    assert plan is not None
    assert validate(given, plan) == ()
    assert [placed.pods for placed in plan.placements] == [(("w-0", "a1"),)]


def test_one_a_node_holds_beside_those_that_run_there() -> None:
    """A worker runs on a0, which it would not be let on to; the leader goes to a1."""
    taint = Taint("key", "", "NoSchedule")
    leader = Role(("l-0",), WHOLE, NodeConstraint(tolerations=(Toleration("key"),)))
    worker = Role((), WHOLE, bound=(("w-0", "a0"),))
    one = gang("g", roles=(leader, worker), one_per_node=True)
    running = (RunningPod("ml", "w-0", "a0", Resources(gpus=1), one.key),)
    where = of_nodes(node("a0", "a", taints=(taint,)), node("a1", "a"), node("b0", "b"))
    given = snapshot(where, one, running=running)
    plan = solve(given)
    assert plan is not None
    assert validate(given, plan) == ()
    assert [placed.pods for placed in plan.placements] == [(("l-0", "a1"),)]


def test_a_gang_that_stands_on_more_nodes_than_it_may_costs_no_other_its_plan() -> None:
    """Two nodes of leaf a hold it, of which one is allowed by now: it waits, and x starts."""
    one, running = with_bound(gang("g", 3, gpus=2), "a0", "a1")
    other = gang("x", 1, gpus=1)
    limit = {"maxNodesPerLeaf": 1}
    given = snapshot(fabric([[3, 2]]), one, other, running=running, topologyConstraints=limit)
    plan = solve(given)
    assert plan is not None
    assert validate(given, plan) == ()
    assert [placed.gang.name for placed in plan.placements] == ["x"]
    assert [waiting.gang.name for waiting in plan.waiting] == ["g"]
