"""Every plan goes through the validator; what it finds is counted, and nothing is refused."""

from __future__ import annotations

from model.gang import GangKey
from model.plan import Plan, PlanStatus
from model.snapshot import Snapshot
from model.validator import Law, validate
from simulator.record import Counts

OF_SCORES = (Law.TERMS, Law.OBJECTIVE)
"""Laws of numbers that a policy without scores does not state."""


def inspect(snapshot: Snapshot, plan: Plan, scored: bool, counts: Counts) -> None:
    """Count the breaches of a plan by law, and the gangs that break any."""
    broken: set[GangKey | None] = set()
    for breach in validate(snapshot, plan):
        if scored or breach.law not in OF_SCORES:
            counts.breaches[breach.law.value] += 1
            broken.add(breach.gang)
    counts.broken += len(broken)
    if scored:
        counts.unproven += plan.status is not PlanStatus.OPTIMAL
        counts.greedy += plan.status is PlanStatus.GREEDY
