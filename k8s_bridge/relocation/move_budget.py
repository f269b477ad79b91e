"""Move budget: the moves of the last day, so that limits outlast a leader."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.model.gang import GangKey

MOVES_LEASE = "fourleaf-moves"
"""The Lease that keeps them."""
HOUR_SECONDS = 3600.0
DAY_SECONDS = 24 * HOUR_SECONDS

_Row = tuple[float, str, int]
"""When, which gang, how many pods; seconds since the epoch."""
_ROWS = TypeAdapter(list[_Row])


@dataclass(slots=True, eq=False)
class MoveBudget:
    """Who was moved for defragmentation. `now` is always in seconds since the epoch."""

    kept: StateLease
    _rows: list[_Row] = field(default_factory=list)
    _loaded: bool = False

    async def load(self) -> None:
        """Take what the leader before has kept, once."""
        if self._loaded:
            return
        self._loaded = True
        text = await self.kept.load()
        try:
            self._rows = _ROWS.validate_json(text) if text else []
        except ValidationError:
            self.kept.unreadable()

    async def note(self, moved: dict[GangKey, int], now: float) -> None:
        """So many pods of these gangs move now."""
        recent = [row for row in self._rows if row[0] > now - DAY_SECONDS]
        self._rows = [*recent, *((now, str(gang), pods) for gang, pods in moved.items())]
        await self.kept.save(self._rows)

    def pods_in_an_hour(self, now: float) -> int:
        """Pods that moved within the last hour."""
        return sum(pods for at, _, pods in self._rows if at > now - HOUR_SECONDS)

    def times_in_a_day(self, gang: GangKey, now: float) -> int:
        """How often `gang` moved within the last day."""
        return sum(1 for at, name, _ in self._rows if name == str(gang) and at > now - DAY_SECONDS)
