"""Eviction history: how many pods went lately, and by what cause; it outlasts a leader."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from fourleaf.k8s_bridge.ledger.state_lease import SavedInTime, StateLease

HOUR_SECONDS = 3600.0
DAY_SECONDS = 24 * HOUR_SECONDS

Row = tuple[float, str, int]
"""When, who, how many pods; seconds since the epoch."""
_ROWS = TypeAdapter(list[Row])


@dataclass(slots=True, eq=False)
class EvictionHistory:
    """Rows of the last `seconds`. `now` is always in seconds since the epoch."""

    kept: StateLease
    seconds: float
    rows: list[Row] = field(default_factory=list)
    _loaded: bool = False
    _saved: SavedInTime = field(init=False)

    def __post_init__(self) -> None:
        self._saved = SavedInTime(self.kept)

    async def load(self) -> None:
        """Take what the leader before has kept, once."""
        if self._loaded:
            return
        self._loaded = True
        text = await self.kept.load()
        try:
            self.rows = [*(_ROWS.validate_json(text) if text else []), *self.rows]
        except ValidationError:
            self.kept.unreadable()

    def add(self, who: str, pods: int, now: float) -> None:
        """So many pods go now; it is known to this leader alone until it is saved."""
        self.rows = [row for row in self.rows if row[0] > now - self.seconds]
        self.rows.append((now, who, pods))
        self._saved.changed()

    async def keep(self) -> None:
        """Save what is new for the leader to come, or what could not be saved some seconds ago."""
        await self._saved.save(lambda: self.rows)
