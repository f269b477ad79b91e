"""Record retries: a record that the API has refused to write is tried again later and later."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock

RECORD_RETRY_SECONDS = 1.0
"""Seconds until a record that was refused is tried again, at least."""

RECORD_RETRY_LIMIT_SECONDS = 30.0
"""Seconds to which they grow."""


@dataclass(slots=True)
class _RecordRetry:
    """`due` on the monotonic clock."""

    backoff: Backoff
    due: float = 0.0


class RecordRetries:
    """When what was refused, by the name of its record, is due again."""

    def __init__(self, clock: Clock, limit: float = RECORD_RETRY_LIMIT_SECONDS) -> None:
        """`limit`: seconds to which the waits of one record grow."""
        self._clock = clock
        self._limit = limit
        self._refused: dict[str, _RecordRetry] = {}

    def is_due(self, name: str) -> bool:
        """Whether that record may be tried now."""
        one = self._refused.get(name)
        return one is None or self._clock.monotonic() >= one.due

    def refused(self, name: str, least: float = RECORD_RETRY_SECONDS) -> None:
        """The API has refused it once more; it waits for `least` seconds at least."""
        now = self._clock.monotonic()
        # Records that are gone, or wanted no longer, are not tried again.
        old = [key for key, one in self._refused.items() if one.due + self._limit < now]
        for key in old:
            del self._refused[key]
        one = self._refused.get(name)
        if one is None:
            backoff = Backoff(self._clock, 2 * RECORD_RETRY_SECONDS, self._limit)
            one = self._refused[name] = _RecordRetry(backoff)
        one.due = now + one.backoff.next(least)

    def taken(self, name: str) -> None:
        """It was written, or deleted: the next refusal is the first."""
        self._refused.pop(name, None)
