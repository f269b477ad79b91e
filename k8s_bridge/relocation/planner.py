"""Who decides what moves."""

from __future__ import annotations

from typing import Protocol

from fourleaf.model.gang import GangKey
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.starts import Start


class Planner(Protocol):
    """Solves for gangs that stand; `snapshot.standing` are those that may be moved or evicted."""

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """How the gangs that lost members live on, with the fewest moves."""
        ...

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """The fewest victims that let a waiting gang start."""
        ...

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Moves within the budget that let waiting gangs start, or make room for likely ones."""
        ...

    async def earliest(self, snapshot: Snapshot, gang: GangKey) -> Start:
        """When and where a waiting gang could start, if nobody new came."""
        ...
