"""Refusals that may pass, and how long one waits for that."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.runtime.clock import Clock

PERMANENT_AFTER_SECONDS = 5.0
"""Seconds that a server must forbid a write before that counts: one that has just started
forbids everything until it has read who may do what, and a webhook may have a bad moment."""

TRANSIENT_STATUSES = frozenset({401, 403})
"""The status of refusals that may pass."""


class PermanentRefusals:
    """What one server says to one request that is repeated."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: float | None = None

    def interrupted(self) -> None:
        """It has said something else meanwhile: another refusal is the first one again."""
        self._until = None

    def for_good(self, error: ClusterError) -> bool:
        """Whether this refusal is the last word, given those before it."""
        self._until = self._until or self._clock.monotonic() + PERMANENT_AFTER_SECONDS
        return error.status not in TRANSIENT_STATUSES or self._clock.monotonic() >= self._until
