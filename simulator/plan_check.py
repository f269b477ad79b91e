"""Every plan goes through the validator; what it finds is counted, and nothing is refused."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import Breach, Law, validate
from fourleaf.simulator.record import ReplayCounts

OF_SCORES = (Law.TERMS, Law.OBJECTIVE)
"""Laws of numbers that a policy without scores does not state."""


def inspect(snapshot: Snapshot, plan: Plan, scored: bool, counts: ReplayCounts) -> None:
    """Count the breaches of a plan by law, and the gangs that break any."""
    note(found(snapshot, plan, scored), counts)
    if scored:
        counts.unproven += plan.status is not PlanStatus.OPTIMAL
        counts.greedy += plan.status is PlanStatus.GREEDY


def found(snapshot: Snapshot, plan: Plan, scored: bool) -> tuple[Breach, ...]:
    """What the validator finds, without the laws of numbers where none are stated."""
    all_of_them = validate(snapshot, plan)
    return tuple(one for one in all_of_them if scored or one.law not in OF_SCORES)


def note(breaches: Sequence[Breach], counts: ReplayCounts) -> None:
    """Count the breaches of one plan, repair or round of moves, and the gangs at fault."""
    counts.breaches.update(one.law.value for one in breaches)
    counts.broken += len({one.gang for one in breaches})
