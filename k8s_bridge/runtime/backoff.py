"""How long to wait before something is tried again."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.randomness import chance as source

FIRST_WAIT_SECONDS = 0.05
"""Seconds, at most, before the second attempt."""
WAIT_LIMIT_SECONDS = 5.0
"""Seconds, at most, before any attempt."""


class Backoff:
    """Waits that double, with full jitter, so that many waiters do not come back at once."""

    def __init__(
        self,
        clock: Clock,
        first: float = FIRST_WAIT_SECONDS,
        most: float = WAIT_LIMIT_SECONDS,
        chance: random.Random | None = None,
    ) -> None:
        self._clock = clock
        self._first = first
        self._most = most
        self._chance = chance or source()
        self._tries = 0

    def next(self, least: float | None = None) -> float:
        """Seconds to wait now, no less than `least`."""
        limit = min(self._most, self._first * 2**self._tries)
        self._tries = min(self._tries + 1, 32)
        return max(least or 0.0, self._chance.uniform(0.0, limit))

    async def wait(self, least: float | None = None) -> None:
        """Wait, no less than `least` seconds (what a server asked for)."""
        await self._clock.sleep(self.next(least))

    def reset(self) -> None:
        """It has worked: the next wait is short again."""
        self._tries = 0
