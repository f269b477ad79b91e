"""What the solver process can be asked for, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan


@dataclass(frozen=True, slots=True)
class Batch:
    """Place the waiting gangs; those that stand stay."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Keep the standing gangs alive that lost members."""


@dataclass(frozen=True, slots=True)
class Preempt:
    """Find the least that has to go for a waiting gang."""

    gang: GangKey


@dataclass(frozen=True, slots=True)
class Defragment:
    """Move what wins most within a budget."""

    budget: Budget


Task = Batch | Repair | Preempt | Defragment
Outcome = Plan | RepairPlan | PreemptionPlan | DefragPlan
