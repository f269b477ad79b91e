"""Limits of evictions, worked out by hand: who goes under shared ones, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import RAISE_A_LIMIT, WAIT_BESIDE, WAIT_TO_GO, cause
from fourleaf.model.relocation import Budget, PreemptionPlan, RepairPlan
from fourleaf.model.running_gang import EvictionLimit, RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import Law, defrag_breaches, preemption_breaches, repair_breaches
from fourleaf.solver.relocation.defragment import defragment
from fourleaf.solver.relocation.explain import explain_preemption, explain_repair
from fourleaf.solver.relocation.preempt import preempt
from fourleaf.solver.relocation.repair import repair
from tests.small import fabric, gang
from tests.standing import outage, stood

KEY = GangKey("ml", "w")
NOTHING = Extensions()


def limit(most: int, *gangs: StandingGang, who: str = "disruption budget ml/x") -> EvictionLimit:
    """A limit that names all members of these gangs."""
    return EvictionLimit(who, frozenset(pod for one in gangs for pod in one.members), most)


def under(snapshot: Snapshot, *limits: EvictionLimit) -> Snapshot:
    """The snapshot with these limits."""
    return replace(snapshot, eviction_limits=limits)


def preempted(snapshot: Snapshot) -> PreemptionPlan:
    """The proven, legal preemption for the gang `w`."""
    plan = preempt(snapshot, KEY)
    assert plan is not None
    assert plan.proven
    plan = explain_preemption(snapshot, plan, NOTHING)
    assert [str(breach) for breach in preemption_breaches(snapshot, plan)] == []
    return plan


def repaired(snapshot: Snapshot) -> RepairPlan:
    """The proven, legal repair, with reasons."""
    plan = repair(snapshot)
    assert plan is not None
    assert plan.proven
    plan = explain_repair(snapshot, plan, NOTHING)
    assert [str(breach) for breach in repair_breaches(snapshot, plan)] == []
    return plan


def names(found: Iterable[GangKey]) -> set[str]:
    """The names of gangs."""
    return {key.name for key in found}


def test_victims_that_may_go_together() -> None:
    """Of three gangs of 2, `a` and `b` share a limit of 3 and cost less: `c` goes with one."""
    a, b = (stood(name, [f"{name}0", f"{name}1"], move_cost=1) for name in "ab")
    c = stood("c", ["c0", "c1"], move_cost=9)
    snapshot = outage(fabric([[2, 2, 2]]), a, b, c, waiting=[gang("w", 4, priority=5)])
    assert names(one.gang for one in preempted(snapshot).victims) == {"a", "b"}
    plan = preempted(under(snapshot, limit(3, a, b)))
    # The leaves of a window are neighbours: `c` beside `b`.
    assert names(one.gang for one in plan.victims) == {"b", "c"}


@pytest.mark.parametrize(("kept", "goes"), ["ab", "ba"])
def test_gangs_that_differ_in_their_limits_alone(kept: str, goes: str) -> None:
    """Two gangs of 2 on the nodes of one leaf are alike but for a limit: the other one goes."""
    a, b = stood("a", ["a0", "a1"]), stood("b", ["a2", "a3"])
    snapshot = outage(fabric([[4]]), a, b, waiting=[gang("w", 2, priority=5)])
    plan = preempted(under(snapshot, limit(0, a if kept == "a" else b)))
    assert names(one.gang for one in plan.victims) == {goes}


def test_the_validator_counts_victims_too() -> None:
    """A plan that evicts 4 pods where 3 may go breaks the law, and names the limit."""
    a, b = (stood(name, [f"{name}0", f"{name}1"]) for name in "ab")
    snapshot = outage(fabric([[2, 2]]), a, b, waiting=[gang("w", 4, priority=5)])
    plan = preempted(snapshot)
    (found,) = preemption_breaches(under(snapshot, limit(3, a, b)), plan)
    assert (found.law, found.subject) == (Law.EVICTION, "disruption budget ml/x")


def test_limits_are_named_where_they_alone_are_why() -> None:
    """Both gangs would have to go, and 3 of their 4 pods may: one pod too many."""
    a, b = (stood(name, [f"{name}0", f"{name}1"]) for name in "ab")
    snapshot = outage(fabric([[2, 2]]), a, b, waiting=[gang("w", 4, priority=5)])
    reason = preempted(under(snapshot, limit(3, a, b))).reason
    assert reason is not None
    assert reason.kind is ReasonKind.EVICTIONS_FORBIDDEN
    assert dict(reason.counts) == {"limits": 1, "excess": 1}
    assert cause(reason) == (
        "pods that would have to go for it may not be evicted now: "
        "disruption budget ml/x lets 3 go, 4 would have to"
    )


def test_limits_are_not_blamed_for_lack_of_room() -> None:
    """The gang is larger than what all victims hold together: that is said, whatever limits say."""
    a, b = stood("a", ["a0", "a1"]), stood("b", ["b0", "b1"], priority=9)
    snapshot = outage(fabric([[2, 2]]), a, b, waiting=[gang("w", 4, priority=5)])
    reason = preempted(under(snapshot, limit(0, a))).reason
    assert reason is not None
    assert reason.kind is ReasonKind.NO_FREE_CAPACITY


def test_members_that_would_have_to_move_for_a_lost_one() -> None:
    """A gang of 2 lost one in a full leaf: 1 has to move, which a limit of 0 does not allow."""
    g, h = stood("g", ["a0", "a1"]), stood("h", ["a2"])
    snapshot = outage(fabric([[3, 2]]), g, h, dead=["a1"])
    assert names(one.gang for one in repaired(snapshot).placements) == {"g"}
    plan = repaired(under(snapshot, EvictionLimit("budget", frozenset([("ml", "g-0-0")]), 0)))
    (lost,) = plan.lost
    assert lost.reason.kind is ReasonKind.EVICTIONS_FORBIDDEN
    assert lost.reason.detail == "budget lets 0 go"
    assert lost.reason.unblock == (RAISE_A_LIMIT, WAIT_BESIDE)


def test_another_mover_makes_room() -> None:
    """Either of two gangs could make room for the lost member; the cheaper one may not."""
    hit = stood("hit", ["a0", "a1"], policy=RepairPolicy.PATCH)
    cheap = stood("cheap", ["a2"], movable=True, move_cost=1)
    dear = stood("dear", ["a3"], movable=True, move_cost=5)
    snapshot = outage(fabric([[4, 1]]), hit, cheap, dear, dead=["a1"])
    assert [move.pod for move in repaired(snapshot).moves] == ["cheap-0-0"]
    plan = repaired(under(snapshot, limit(0, cheap)))
    assert [move.pod for move in plan.moves] == ["dear-0-0"]


def test_lost_members_that_run_still_are_counted() -> None:
    """Two single pods leave a node that is emptied, under a limit of 1: the heavier one goes."""
    one, two = stood("one", ["a0"], gpus=2), stood("two", ["a0"], gpus=6)
    snapshot = outage(fabric([[2]]), one, two, dead=["a0"])
    assert names(found.gang for found in repaired(snapshot).placements) == {"one", "two"}
    limited = under(snapshot, limit(1, one, two))
    plan = repaired(limited)
    assert names(found.gang for found in plan.placements) == {"two"}
    assert [found.reason.kind for found in plan.lost] == [ReasonKind.EVICTIONS_FORBIDDEN]
    (breach,) = repair_breaches(limited, repaired(snapshot))
    assert breach.law is Law.EVICTION


def test_a_lost_member_that_may_not_go_keeps_its_gang() -> None:
    """One of two members is on a node that is emptied, and there is room: it may not be evicted."""
    snapshot = outage(fabric([[3]]), stood("g", ["a0", "a1"]), dead=["a0"])
    assert names(found.gang for found in repaired(snapshot).placements) == {"g"}
    plan = repaired(under(snapshot, EvictionLimit("budget", frozenset([("ml", "g-0-0")]), 0)))
    assert [found.reason.kind for found in plan.lost] == [ReasonKind.EVICTIONS_FORBIDDEN]
    assert [found.reason.unblock for found in plan.lost] == [(RAISE_A_LIMIT, WAIT_TO_GO)]


def test_what_starts_over_takes_its_part() -> None:
    """A gang that restarts takes the 1 that the limit allows: the mover stays, the gang waits."""
    over = stood("over", ["a0", "b0"], policy=RepairPolicy.RESTART)
    hit = stood("hit", ["c0", "c1"], policy=RepairPolicy.PATCH)
    mover = stood("mover", ["c2"], movable=True)
    snapshot = outage(fabric([[1, 1], [3, 1]]), over, hit, mover, dead=["a0", "c1"])
    assert [move.pod for move in repaired(snapshot).moves] == ["mover-0-0"]
    pods = frozenset([("ml", "over-0-1"), ("ml", "mover-0-0")])
    assert not repaired(under(snapshot, EvictionLimit("budget", pods, 1))).moves
    assert repaired(under(snapshot, EvictionLimit("budget", pods, 2))).moves


def test_defragmentation_keeps_within_limits() -> None:
    """Moving either single lets a gang of 3 start; the one that a limit names stays."""
    one = stood("one", ["a0"], movable=True)
    two = stood("two", ["b0"], movable=True, move_cost=5)
    snapshot = outage(fabric([[3, 3]]), one, two, waiting=[gang("w", 3)])
    for limits, mover in (((), "one-0-0"), ((limit(0, one),), "two-0-0")):
        under_them = under(snapshot, *limits)
        plan = defragment(under_them, Budget(4))
        assert plan is not None
        assert [move.pod for move in plan.moves] == [mover]
        assert not defrag_breaches(under_them, plan, Budget(4))
