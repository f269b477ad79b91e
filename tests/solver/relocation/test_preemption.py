"""Preemptions worked out by hand: who has to go, and who never does."""

from __future__ import annotations

import pytest

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import preemption_breaches
from fourleaf.solver.relocation import preempt as module
from fourleaf.solver.relocation.explain import explain_preemption
from fourleaf.solver.relocation.preempt import preempt
from tests.small import fabric, gang
from tests.standing import outage, stood

KEY = GangKey("ml", "w")


def preempted(snapshot: Snapshot) -> PreemptionPlan:
    """The proven, legal preemption for the gang `w`."""
    plan = preempt(snapshot, KEY)
    assert plan is not None
    assert plan.proven
    plan = explain_preemption(snapshot, plan, Extensions())
    assert [str(breach) for breach in preemption_breaches(snapshot, plan)] == []
    return plan


def victims(plan: PreemptionPlan) -> set[str]:
    """Their names."""
    return {victim.gang.name for victim in plan.victims}


def test_one_victim_where_one_suffices() -> None:
    """Ten singles and one gang of ten stand; a waiting gang of ten takes the leaf of the one."""
    singles = [stood(f"s{i}", [f"a{i}"]) for i in range(10)]
    ten = stood("ten", [f"b{i}" for i in range(10)])
    waiting = gang("w", 10, priority=5)
    plan = preempted(outage(fabric([[10, 10]]), *singles, ten, waiting=[waiting]))
    assert victims(plan) == {"ten"}


def test_nobody_where_it_fits() -> None:
    """A gang that fits beside the others evicts nobody."""
    snapshot = outage(fabric([[4]]), stood("s", ["a0"]), waiting=[gang("w", 3, priority=5)])
    plan = preempted(snapshot)
    assert plan.victims == ()
    assert plan.placement is not None


def test_lower_priorities_go_first() -> None:
    """Two of priority 0 go rather than one of priority 3: fewest of the highest counts first."""
    low = [stood(f"low{i}", [f"a{i}"]) for i in range(2)]
    high = stood("high", ["b0", "b1"], priority=3)
    plan = preempted(outage(fabric([[2, 2]]), *low, high, waiting=[gang("w", 2, priority=5)]))
    assert victims(plan) == {"low0", "low1"}


def test_cheaper_victim() -> None:
    """Of two equal gangs the one whose loss costs less goes."""
    one = stood("dear", ["a0", "a1"], move_cost=5)
    two = stood("cheap", ["b0", "b1"], move_cost=2)
    plan = preempted(outage(fabric([[2, 2]]), one, two, waiting=[gang("w", 2, priority=5)]))
    assert victims(plan) == {"cheap"}


@pytest.mark.parametrize("fields", [{"preemptible": False}, {"priority": 5}, {"priority": 9}])
def test_never_evicted(fields: dict[str, int]) -> None:
    """Gangs that are not preemptible, or of the same or a higher priority, are spared."""
    snapshot = outage(
        fabric([[2]]), stood("s", ["a0", "a1"], **fields), waiting=[gang("w", 2, priority=5)]
    )
    plan = preempted(snapshot)
    assert plan.placement is None
    assert plan.reason is not None
    assert plan.reason.kind is not ReasonKind.NOT_PROVEN


def test_too_large_for_the_fabric() -> None:
    """Three whole nodes do not fit on two whoever leaves, and the reason says so."""
    snapshot = outage(fabric([[2]]), stood("s", ["a0"]), waiting=[gang("w", 3, priority=5)])
    plan = preempted(snapshot)
    assert plan.reason is not None
    assert plan.reason.kind is ReasonKind.TOO_LARGE


def test_quota_freed_by_victims() -> None:
    """The namespace is at its quota: a gang of the same namespace goes though there is room."""
    snapshot = outage(
        fabric([[3]]),
        stood("s", ["a0"]),
        waiting=[gang("w", 1, priority=5)],
        namespaces={"ml": {"gpuQuota": 8}},
    )
    assert victims(preempted(snapshot)) == {"s"}


def test_unknown_gang() -> None:
    """Asking for a gang that does not wait is an error that names it."""
    with pytest.raises(KeyError, match="ml/w"):
        preempt(outage(fabric([[2]])), KEY)


@pytest.mark.parametrize("pods", [2, 3])
def test_out_of_time_is_no_proof(pods: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search ends without an answer, only a gang that never fits is said not to."""
    real, calls = module.reach, []

    def first_fails(*arguments: object) -> object:
        calls.append(arguments)
        return None if len(calls) == 1 else real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "reach", first_fails)
    waiting = gang("w", pods, priority=5)
    snapshot = outage(fabric([[2]]), stood("s", ["a0", "a1"]), waiting=[waiting])
    plan = preempt(snapshot, KEY)
    assert plan is not None
    assert plan.proven == (pods == 3)
    assert plan.victims == ()
    reason = explain_preemption(snapshot, plan, Extensions()).reason
    assert reason is not None
    assert (reason.kind is ReasonKind.NOT_PROVEN) == (pods == 2)
