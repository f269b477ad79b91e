"""Defragmentations worked out by hand: what is moved for whom, within which budget."""

from __future__ import annotations

import pytest

from fourleaf.model.relocation import Budget, DefragPlan, FreeLeaves
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import defrag_breaches
from fourleaf.solver.relocation.defragment import defragment
from tests.small import fabric, gang
from tests.standing import outage, stood


def defragmented(snapshot: Snapshot, budget: Budget) -> DefragPlan:
    """The proven, legal defragmentation of a snapshot."""
    plan = defragment(snapshot, budget)
    assert plan is not None
    assert plan.proven
    assert [str(breach) for breach in defrag_breaches(snapshot, plan, budget)] == []
    return plan


def scattered(movable: bool = True, cost: int = 1) -> list[StandingGang]:
    """A single on one node of each of two leaves."""
    return [
        stood(f"s{i}", [f"{leaf}0"], movable=movable, move_cost=cost) for i, leaf in enumerate("ab")
    ]


@pytest.mark.parametrize(
    ("budget", "moved"),
    [(Budget(0), 0), (Budget(1), 1), (Budget(9), 1), (Budget(9, cost=2), 0), (Budget(9, 3), 1)],
)
def test_a_waiting_gang_starts(budget: Budget, moved: int) -> None:
    """Two leaves of two are half full; a pair starts once one single has joined the other."""
    snapshot = outage(fabric([[2, 2]]), *scattered(cost=3), waiting=[gang("w", 2)])
    plan = defragmented(snapshot, budget)
    assert len(plan.moves) == moved
    assert len(plan.placements) == moved
    assert len(plan.waiting) == 1 - moved


def test_nobody_moves_for_a_gang_that_fits() -> None:
    """A waiting single starts beside the others without a move."""
    plan = defragmented(outage(fabric([[2, 2]]), *scattered(), waiting=[gang("w", 1)]), Budget(9))
    assert plan.moves == ()
    assert len(plan.placements) == 1


def test_unmovable_gangs_stay() -> None:
    """Where nobody may move, the gang waits on."""
    snapshot = outage(fabric([[2, 2]]), *scattered(movable=False), waiting=[gang("w", 2)])
    plan = defragmented(snapshot, Budget(9))
    assert plan.moves == ()
    assert len(plan.waiting) == 1


@pytest.mark.parametrize(("budget", "leaves"), [(0, 0), (1, 1), (5, 1)])
def test_room_for_likely_gangs(budget: int, leaves: int) -> None:
    """Nobody waits, pairs are likely: one move makes a leaf whole, and the plan says so."""
    mix = {"weight": "0.5", "mix": [{"nodes": 2, "share": "0.5"}]}
    plan = defragmented(outage(fabric([[2, 2]]), *scattered(), fragmentation=mix), Budget(budget))
    assert plan.before == FreeLeaves(0, 0, 0)
    assert plan.after == FreeLeaves(leaves, 0, 0)
    assert len(plan.moves) == leaves


def test_nothing_to_win() -> None:
    """Without likely gangs, and with nobody waiting, nothing moves."""
    plan = defragmented(outage(fabric([[2, 2]]), *scattered()), Budget(9))
    assert plan.moves == ()
