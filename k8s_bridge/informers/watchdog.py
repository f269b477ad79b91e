"""Watchdog: ends waits that take too long, by the clock of the bridge."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fourleaf.k8s_bridge.runtime.clock import Clock

T = TypeVar("T")


class Watchdog:
    """Guards one wait after another, each for at most `seconds`.

    One sleeping task serves all of them, since a task for each event of a busy watch would
    cost more than the event.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._since = 0.0
        self._limit: asyncio.Timeout | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Watchdog:
        self._task = asyncio.create_task(self._patrol(), name="watchdog")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def wait(self, awaited: Awaitable[T]) -> T:
        """What `awaited` gives. Raises `TimeoutError` where that takes too long."""
        async with asyncio.timeout(None) as limit:
            self._since, self._limit = self._clock.monotonic(), limit
            try:
                return await awaited
            finally:
                self._limit = None

    async def _patrol(self) -> None:
        while True:
            left = self._since + self._seconds - self._clock.monotonic()
            if self._limit is None:
                # no wait that begins from now on can be due before that
                await self._clock.sleep(self._seconds)
            elif left > 0:
                await self._clock.sleep(left)
            else:
                limit, self._limit = self._limit, None
                limit.reschedule(0)
