"""Time, as the bridge knows it; simulations bring their own."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Two clocks: one that never jumps, for what takes time, and one that people read."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""

    def wall(self) -> float:
        """Seconds since the epoch; may jump."""

    async def sleep(self, seconds: float) -> None:
        """Let that many seconds of the monotonic clock pass."""


class SystemClock:
    """The clocks of this machine."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since the epoch; may jump."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let that many seconds pass."""
        await asyncio.sleep(seconds)
