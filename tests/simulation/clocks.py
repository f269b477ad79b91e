"""The clocks of one machine: they run fast or slow, jump, and stand still while it sleeps."""

from __future__ import annotations

import asyncio

from tests.twins.virtual_clock import VirtualClock

_TICK = 1e-6
"""Seconds that are lost in the conversion of floats."""


class MachineClock:
    """The `Clock` of one machine. `rate` of its seconds pass in a true one.

    `pause` stops everything that runs there; what was sent is on its way already. The
    monotonic clock goes on meanwhile, unless the machine as a whole is suspended.
    """

    def __init__(self, true: VirtualClock, rate: float = 1.0) -> None:
        self.rate = rate
        self.jump = 0.0
        self._true = true
        self._since = true.monotonic()
        self._read = 0.0
        self._suspended = False
        self._running = asyncio.Event()
        self._running.set()

    @property
    def paused(self) -> bool:
        """Whether nothing runs there."""
        return not self._running.is_set()

    def monotonic(self) -> float:
        """Seconds since the machine was started, by its own clock."""
        if self._suspended:
            return self._read
        return self._read + (self._true.monotonic() - self._since) * self.rate

    def wall(self) -> float:
        """Seconds since the epoch, as the machine believes."""
        return self._true.wall() + self.jump

    async def sleep(self, seconds: float) -> None:
        """Wait until that many seconds of this clock have passed and the machine runs."""
        if seconds <= 0:
            await asyncio.sleep(0)
            await self.running()
            return
        if seconds <= _TICK:
            # It passes all the same: who waits for the rest of a second would wait for ever.
            await self._true.sleep(_TICK / self.rate)
        until = self.monotonic() + seconds
        while (left := until - self.monotonic()) > _TICK:
            await self._true.sleep(left / self.rate)
            await self.running()

    async def running(self) -> None:
        """Wait until the machine runs."""
        while self.paused:
            await self._running.wait()

    def pause(self, suspended: bool = False) -> None:
        """Stop; with `suspended`, the monotonic clock stops as well."""
        self._running.clear()
        if suspended:
            self._read, self._suspended = self.monotonic(), True

    def resume(self) -> None:
        """Go on."""
        if self._suspended:
            self._since, self._suspended = self._true.monotonic(), False
        self._running.set()
