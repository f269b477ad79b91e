"""Eviction history: how many pods went lately, and by what cause; it outlasts a leader.

What the leader before has kept may be hard to read: then it is not known whether a limit is
reached, and nothing that has one may be evicted until it is known, for `UNREAD_SECONDS` at most.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError

from fourleaf.k8s_bridge.ledger.state_lease import SavedInTime, StateLease
from fourleaf.k8s_bridge.runtime.concurrency import patiently

HOUR_SECONDS = 3600.0
DAY_SECONDS = 24 * HOUR_SECONDS

LOAD_SECONDS = 1.0
"""Seconds for which a step waits for the first answer; it is asked again beside the steps."""
LOAD_RETRY_SECONDS = 10.0
"""Seconds after an answer that was none until the API is asked again."""
UNREAD_SECONDS = 600.0
"""Seconds from the first question on after which what cannot be read counts for nothing."""

FUTURE_SECONDS = 120.0
"""Seconds by which a row may be ahead of the clock: a minute's evictions are dated as of its end,
and clocks of two leaders differ. What is further ahead was written by a clock that was wrong."""

MOST_PODS = 1_000_000_000
"""Of a row: more is nonsense, and might not be written again."""

Row = tuple[float, str, int]
"""When, who, how many pods; seconds since the epoch."""
_ROWS = TypeAdapter(list[tuple[FiniteFloat, str, Annotated[int, Field(ge=0, le=MOST_PODS)]]])


@dataclass(slots=True, eq=False)
class EvictionHistory:
    """Rows of the last `seconds`. `now` is always in seconds since the epoch.

    It is read and saved by `keep`, beside all steps.
    """

    kept: StateLease
    seconds: float
    rows: list[Row] = field(default_factory=list)
    _loaded: bool = False
    _asked: float | None = None
    """When it was asked for first, on the monotonic clock, as is `_due`."""
    _due: float = 0.0
    _saved: SavedInTime = field(init=False)

    def __post_init__(self) -> None:
        self._saved = SavedInTime(self.kept)

    def unread(self) -> bool:
        """Whether the leader before may have kept more; `keep` reads that from now on."""
        if self._loaded:
            return False
        now = self.kept.clock.monotonic()
        if self._asked is None:
            self._asked = now
        return now - self._asked < UNREAD_SECONDS

    def current(self) -> list[Row]:
        """The rows that may count; those from the future are dropped for good."""
        latest = self.kept.clock.wall() + FUTURE_SECONDS
        if any(row[0] > latest for row in self.rows):
            self.rows = [row for row in self.rows if row[0] <= latest]
            self._saved.changed()
        return self.rows

    async def load(self) -> None:
        """Take what the leader before has kept, once; waits for that for a moment."""
        if self._asked is not None or not self.unread():
            return
        task = asyncio.ensure_future(self._load())
        try:
            await patiently([task], self.kept.clock.sleep(LOAD_SECONDS))
        finally:
            task.cancel()
        if task.done():
            await task

    async def _load(self) -> None:
        if self.kept.clock.monotonic() < self._due:
            return
        text = await self.kept.load_or_none()
        if text is None:
            self._due = self.kept.clock.monotonic() + LOAD_RETRY_SECONDS
        elif not self._loaded:
            self._loaded = True
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
        """Save what is new for the leader to come, or what could not be saved some seconds ago.

        Not over what may still be read.
        """
        if self._asked is not None and not self._loaded:
            await self._load()
            if self.unread():
                return
            self._loaded = True
        await self._saved.save(lambda: self.rows)
