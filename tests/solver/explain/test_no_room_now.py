"""Nodes that are busy: the nearest miss, who holds it, and who came first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import GangKey, Role, TopologyPolicy
from fourleaf.model.plan import Move, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.reasons.text import sentence
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain
from tests.small import GIB, WHOLE, fabric, gang, node, snapshot
from tests.solver.explain.asking import bert, of_nodes, pod, reasons, starts, why


def test_the_nearest_window_is_shown_leaf_by_leaf() -> None:
    """One node is held in each of b, c and d: a and b together lack one, the others two."""
    running = (*bert("b1"), pod("x", "c0"), pod("y", "d0"))
    world = snapshot(fabric([[2, 2, 2, 2]]), gang("g", 4), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_ADJACENT_LEAVES
    assert reason.counts == (
        ("leaves", 2), ("needed", 4), ("free", 5), ("anywhere", 5), ("best", 3),
    )  # fmt: skip
    assert reason.near == (
        NearMiss("a", 2, 2),
        NearMiss("b", 1, 2, holders=(("b1", "hpc/bert"),)),
    )
    assert reason.unblock == (
        "it starts when hpc/bert ends",
        "topology-policy Preferred would place it now",
    )
    assert sentence(reason) == (
        "no 2 adjacent leaves have the room together: needs 4 nodes, 5 are free; "
        "nearest: 1 of 2 nodes free in b (b1 held by hpc/bert)"
    )
    assert starts(replace(world, running=running[1:]))
    assert starts(replace(world, gangs=(gang("g", 4, policy=TopologyPolicy.PREFERRED),)))


def test_of_equally_near_places_the_one_with_fewest_holders_is_shown() -> None:
    """Both leaves lack two nodes; in b one gang holds both."""
    running = (pod("x", "a0"), pod("y", "a1"), *bert("b0", "b1"))
    world = snapshot(fabric([[4, 4]]), gang("g", 4), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_ADJACENT_LEAVES
    held = (("b0", "hpc/bert"), ("b1", "hpc/bert"))
    assert reason.near == (NearMiss("b", 2, 4, holders=held),)
    assert reason.unblock[0] == "it starts when hpc/bert ends"
    assert starts(replace(world, running=running[:2]))


def test_only_as_many_holders_as_must_go_are_shown() -> None:
    """Leaf a has one node free and needs one more: either holder would do, the first is named."""
    running = (*bert("a0", "b0", "b1"), pod("x", "a1"), pod("y", "b2"))
    reason = why(snapshot(fabric([[3, 3]]), gang("g", 2), running=running))
    assert reason.near == (NearMiss("a", 1, 2, holders=(("a0", "hpc/bert"),)),)
    assert reason.unblock == ("it starts when hpc/bert ends",)


def test_no_room_anywhere_is_short_of_gpus() -> None:
    """Two of four nodes are free in all, one in each spine."""
    running = (*bert("a0"), pod("x", "b1"))
    world = snapshot(fabric([[2], [2]]), gang("g", 2), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.detail == "GPUs"
    assert reason.counts == (("needed", 2), ("free", 1), ("anywhere", 2), ("best", 1))
    assert reason.near == (NearMiss("a", 1, 2, holders=(("a0", "hpc/bert"),)),)
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert starts(replace(world, running=running[1:]))


RDMA = (("rdma/hca", 1),)


@pytest.mark.parametrize(
    ("name", "asked", "held"),
    [
        ("GPUs", Resources(gpus=4), Resources(gpus=5)),
        ("CPU", Resources(gpus=1, cpu=4_000), Resources(gpus=1, cpu=7_000)),
        ("memory", Resources(gpus=1, memory=6 * GIB), Resources(memory=6 * GIB)),
        ("pod slots", Resources(gpus=1), Resources(pods=10)),
        ("rdma/hca", Resources(gpus=1, extra=RDMA), Resources(extra=RDMA)),
        ("hostport/TCP/80", *[Resources(extra=(("hostport/TCP/80", 1),))] * 2),
    ],
)
def test_the_resource_that_runs_out_is_named(name: str, asked: Resources, held: Resources) -> None:
    """Each resource in turn is the only one that the running pod leaves too little of."""
    host = node("a0", "a", allocatable=replace(WHOLE, extra=RDMA))
    running = (pod("x", "a0", request=held),)
    world = snapshot(of_nodes(host), gang("g", 1, request=asked), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.detail == name
    assert reason.near[0].holders == (("a0", "hpc/x"),)
    assert reason.unblock == ("it starts when hpc/x ends",)
    assert starts(replace(world, running=()))


def test_pods_that_share_nodes_are_counted_in_pods() -> None:
    """All but two GPUs of one node are held: two pods of four fit on the other, two wait."""
    running = (pod("x", "a0", gpus=4), pod("y", "a0", gpus=2))
    world = snapshot(fabric([[2]]), gang("g", 4, gpus=4), running=running)
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert dict(reason.counts)["pods"] == 4
    assert reason.near == (NearMiss("a", 2, 4, "pods", (("a0", "hpc/x"), ("a0", "hpc/y"))),)
    assert reason.unblock == ("it starts when hpc/x and hpc/y end",)
    assert "needs 4 pods, 2 are free" in sentence(reason)


def test_one_pod_of_several_on_a_node_is_enough_to_wait_for() -> None:
    """A pod of four fits again as soon as the pod of four ends, whatever the others do."""
    running = (pod("w", "a0", gpus=2), pod("x", "a0", gpus=4), pod("y", "a0", gpus=2))
    world = snapshot(fabric([[1]]), gang("g", 1, gpus=4), running=running)
    assert why(world).unblock == ("it starts when hpc/x ends",)


def test_roles_are_measured_together() -> None:
    """A pod of 8 and one of 4 need two nodes: each alone would fit into the one that is free."""
    roles = tuple(Role((f"g-{n}",), Resources(gpus=n)) for n in (8, 4))
    world = snapshot(fabric([[2]]), gang("g", roles=roles), running=bert("a0"))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.near == (NearMiss("a", 1, 2, "pods", (("a0", "hpc/bert"),)),)
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert starts(replace(world, running=()))


def test_a_gangs_own_members_are_not_in_its_way() -> None:
    """One member runs on a0; for the other, a1 is held by bert."""
    role = Role(("g-1",), Resources(gpus=8), bound=(("g-0", "a0"),))
    own = RunningPod("ml", "g-0", "a0", Resources(gpus=8), GangKey("ml", "g"))
    world = snapshot(fabric([[2]]), gang("g", roles=(role,)), running=(own, *bert("a1")))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.near == (NearMiss("a", 0, 1, holders=(("a1", "hpc/bert"),)),)
    assert reason.unblock == ("it is whole again when hpc/bert ends",)
    assert starts(replace(world, running=(own,)))


def test_many_holders_are_counted_after_the_first_two() -> None:
    """Three lone pods hold the leaf."""
    running = tuple(pod(name, f"a{i}") for i, name in enumerate("xyz"))
    world = snapshot(fabric([[3]]), gang("g", 3), running=running)
    assert why(world).unblock == ("it starts when hpc/x, hpc/y and 1 more end",)


def test_a_gang_over_spines_counts_what_is_free_in_all() -> None:
    """Two spines of two nodes, three nodes wanted, one held by bert in each."""
    world = snapshot(fabric([[2], [2]]), gang("g", 3), running=bert("a0", "b0"))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert reason.counts == (("needed", 3), ("free", 2), ("anywhere", 2), ("best", 2))
    assert reason.unblock == ("it starts when hpc/bert ends",)
    assert starts(replace(world, running=()))


def test_two_resources_that_run_out_together_are_both_named() -> None:
    """Neither GPUs nor CPU alone would be enough."""
    running = (pod("x", "a0", request=Resources(gpus=8, cpu=9_000)),)
    one = gang("g", 1, request=Resources(gpus=1, cpu=2_000))
    assert why(snapshot(fabric([[1]]), one, running=running)).detail == "GPUs and CPU"


def test_a_preferred_gang_looks_at_whole_spines() -> None:
    """Five of six nodes of the spine are free; the leaf rule is no excuse for this gang."""
    world = snapshot(
        fabric([[2, 2, 2]]),
        gang("g", 6, policy=TopologyPolicy.PREFERRED),
        running=bert("b1"),
    )
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert dict(reason.counts)["free"] == 5
    assert sum(miss.free for miss in reason.near) == 5
    assert reason.unblock == ("it starts when hpc/bert ends",)


def test_gangs_that_took_the_room_are_named_with_their_priority() -> None:
    """The leaf is free now, but two gangs of higher priority get it."""
    gangs = (gang("a", 1, priority=3), gang("b", 1, priority=2), gang("g", 2))
    world = snapshot(fabric([[2]]), *gangs)
    reason = why(world)
    assert reason.kind is ReasonKind.OUTRANKED
    assert reason.detail == "ml/a (priority 3), ml/b (priority 2)"
    assert reason.count("rivals") == 2
    assert reason.near == (NearMiss("a", 0, 2, holders=(("a0", "ml/a"), ("a1", "ml/b"))),)
    assert reason.unblock == (
        "raise its priority above 3",
        "it starts when ml/a and ml/b end",
    )
    raised = replace(world, gangs=(*gangs[:2], gang("g", 2, priority=4)))
    assert "g" not in reasons(raised)


def test_gangs_of_lower_priority_are_not_blamed_where_others_are() -> None:
    """Leaf a went to a gang of lower priority, b to a higher one: b is the one shown."""
    low, high = gang("low", 2, priority=0), gang("high", 2, priority=2)
    world = snapshot(fabric([[2, 2]]), low, high, gang("g", 2, priority=1))
    plan = greedy_plan(replace(world, gangs=(high, low)))
    plan = replace(plan, waiting=(Waiting(GangKey("ml", "g"), Reason(ReasonKind.NOT_PROVEN)),))
    (entry,) = explain(world, plan).waiting
    assert entry.reason.detail == "ml/high (priority 2)"


def test_room_that_is_left_is_owned_up_to() -> None:
    """A gang that would still fit was only not proven to."""
    one = gang("g", 2)
    world = snapshot(fabric([[2]]), one)
    plan = Plan(PlanStatus.GREEDY, (), (Waiting(one.key, Reason(ReasonKind.NOT_PROVEN)),))
    assert explain(world, plan).waiting[0].reason.kind is ReasonKind.NOT_PROVEN


def test_moves_of_the_plan_count_as_made() -> None:
    """A pod that the plan moves away is not in the way any more."""
    one = gang("g", 2)
    world = snapshot(fabric([[2, 2]]), one, running=(pod("x", "a0"), pod("y", "b0")))
    waiting = (Waiting(one.key, Reason(ReasonKind.NOT_PROVEN)),)
    plan = Plan(PlanStatus.FEASIBLE, (), waiting)
    assert explain(world, plan).waiting[0].reason.kind is ReasonKind.NO_ADJACENT_LEAVES
    moved = replace(plan, moves=(Move("hpc", "x", "a0", "b1", ""),))
    assert explain(world, moved).waiting[0].reason.kind is ReasonKind.NOT_PROVEN


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (
            Reason(
                ReasonKind.TOO_LARGE,
                counts=(
                    ("needed", 3),
                    ("leaf", 1),
                    ("spine", 2),
                    ("total", 4),
                    ("pods", 3),
                ),
            ),
            "needs 3 pods, but a leaf holds 1, a spine 2 at most",
        ),
        (
            Reason(ReasonKind.NAMESPACE_LIMIT, counts=(("limit", 2), ("gangs", 2))),
            "the limit is 2 gangs",
        ),
        (
            Reason(
                ReasonKind.NAMESPACE_LIMIT, counts=(("limit", 3), ("members", 2), ("needed", 2))
            ),
            "the limit is 3 members, 2 come before it and it has 2",
        ),
        (
            Reason(ReasonKind.UPLINK_FULL, counts=(("asked", 200), ("free", 150))),
            "asks one for 200 Mbit/s, 150 are free",
        ),
        (
            Reason(ReasonKind.NO_MATCHING_NODES, counts=(("notReady", 1), ("rule no-r", 2))),
            "1 node not ready, 2 nodes refused by rule no-r",
        ),
        (
            Reason(
                ReasonKind.NO_FREE_CAPACITY,
                "CPU",
                counts=(
                    ("needed", 2),
                    ("free", 1),
                    ("anywhere", 5),
                ),
            ),
            "short of CPU: needs 2 nodes, 1 is free in one spine and 5 in all",
        ),
    ],
)
def test_counts_of_an_explanation_become_words(reason: Reason, said: str) -> None:
    """The numbers found here are said by the one place that makes sentences."""
    assert sentence(reason).endswith(said)


def test_free_nodes_that_name_no_leaf_are_to_be_labelled() -> None:
    """The pair finds a0 held and no second node in its leaf; n0 and n1 are free and stand apart."""
    nodes = (node("a0", "a"), node("a1", "a"), node("n0", "n0", "n0"), node("n1", "n1", "n1"))
    leaves = (
        Leaf("a", "s0", nodes[:2]),
        *(Leaf(one.leaf, one.spine, (one,)) for one in nodes[2:]),
    )
    where = Fabric(leaves, unlabelled=frozenset({"n0", "n1"}))
    world = snapshot(where, gang("g", 2), running=bert("a0"))
    reason = why(world)
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY
    assert "label n0 and n1 with their leaf: they name none, so each stands apart" in reason.unblock
    held = replace(world, running=(*bert("a0"), pod("x", "n0")))
    assert not any(step.startswith("label") for step in why(held).unblock)
