"""A token bucket: so many at once, so many a second after that."""

from __future__ import annotations

from fourleaf.k8s_bridge.clock import Clock


class Bucket:
    """Holds at most `burst` tokens and gains `rate` a second; starts full."""

    def __init__(self, clock: Clock, rate: float, burst: float) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._at = clock.monotonic()

    async def take(self) -> None:
        """Take one token, once there is one. Those who wait are served in turn."""
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        # A debt is what makes those who come later wait longer.
        self._tokens -= 1
        if self._tokens < 0:
            await self._clock.sleep(-self._tokens / self._rate)
