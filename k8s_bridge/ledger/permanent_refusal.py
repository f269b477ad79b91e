"""Refusals that may pass, and how long one waits for that."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Throttled
from fourleaf.k8s_bridge.runtime.clock import Clock

PERMANENT_AFTER_SECONDS = 5.0
"""Seconds that a server must forbid a write before that counts: one that has just started
forbids everything until it has read who may do what, and a webhook may have a bad moment."""

PERMANENT_ROWS = 4
"""Rows of refusals, with nothing between them but requests that were put off, that count as well:
two or three of them may be as many bad moments."""

TRANSIENT_STATUSES = frozenset({401, 403})
"""The status of refusals that may pass."""


class PermanentRefusals:
    """What one server says to one request that is repeated."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: float | None = None
        self._first_until: float | None = None
        self._rows = 0

    def interrupted(self) -> None:
        """It has said something else meanwhile: another refusal is the first one again."""
        self._until = self._first_until = None
        self._rows = 0

    def unsaid(self, error: ClusterError) -> None:
        """This came in place of an answer.

        A request that was only put off has told nothing: the time until it had its turn does not
        count, but the rows of refusals do. One that is put off again and again between refusals
        would else never be refused for good.
        """
        if isinstance(error, Throttled):
            self._until = None
        else:
            self.interrupted()

    def for_good(self, error: ClusterError) -> bool:
        """Whether this refusal is the last word, given those before it."""
        now = self._clock.monotonic()
        if self._until is None:
            self._until = now + PERMANENT_AFTER_SECONDS
            self._rows += 1
        if self._first_until is None:
            self._first_until = self._until
        until = self._until if self._rows < PERMANENT_ROWS else self._first_until
        return error.status not in TRANSIENT_STATUSES or now >= until
