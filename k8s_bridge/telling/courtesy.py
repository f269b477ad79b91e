"""Courtesy: what is told waits while pods are bound, but not for ever."""

from __future__ import annotations

from collections.abc import Callable

from fourleaf.k8s_bridge.clock import Clock

LONGEST = 5.0
"""Seconds that tells wait at most while binding goes on and on."""


class Courtesy:
    """Whether tells should wait now: `busy` is so, and has been for less than `LONGEST`."""

    def __init__(self, busy: Callable[[], bool], clock: Clock) -> None:
        self._busy = busy
        self._clock = clock
        self._since: float | None = None

    def __call__(self) -> bool:
        """Whether to wait."""
        if not self._busy():
            self._since = None
            return False
        now = self._clock.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since < LONGEST
