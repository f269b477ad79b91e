"""Move budget: the moves of the last day, so that limits outlast a leader."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from fourleaf.k8s_bridge.relocation.evictions.history import (
    DAY_SECONDS,
    HOUR_SECONDS,
    EvictionHistory,
)
from fourleaf.model.gang import GangKey

MOVES_LEASE = "fourleaf-moves"
"""The Lease that keeps them."""


@dataclass(slots=True, eq=False)
class MoveBudget(EvictionHistory):
    """Who was moved for defragmentation. `now` is always in seconds since the epoch."""

    seconds: float = DAY_SECONDS

    async def note(self, moved: dict[GangKey, int], now: float) -> None:
        """So many pods of these gangs move now."""
        for gang, pods in moved.items():
            self.add(str(gang), pods, now)
        await self.keep()

    def pods_in_an_hour(self, now: float) -> int:
        """Pods that moved within the last hour; as many as may be while that is not known."""
        if self.unread():
            return sys.maxsize
        return sum(pods for at, _, pods in self.current() if at > now - HOUR_SECONDS)

    def times_in_a_day(self, gang: GangKey, now: float) -> int:
        """How often `gang` moved within the last day."""
        rows = self.current()
        return sum(1 for at, name, _ in rows if name == str(gang) and at > now - DAY_SECONDS)
