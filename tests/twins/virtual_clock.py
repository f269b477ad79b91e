"""Time that passes only when nothing is left to do, for demos, simulations and tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")

START_SECONDS = 1_767_225_600.0
"""What `wall` starts with: the first second of 2026, UTC."""
TURN_LIMIT = 1_000_000
"""Turns of the loop, at one moment, after which a task is taken to spin."""


class VirtualClock:
    """A `Clock` whose seconds cost nothing. Equal programs see equal times and orders.

    Either `advance` moves it, step by step, or `run` does, whenever all tasks wait. Needs one
    of asyncio's own event loops.
    """

    def __init__(self, wall: float = START_SECONDS) -> None:
        self._now = 0.0
        self._wall = wall
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()
        self._holds = 0
        self._released = asyncio.Event()
        self._driven = False

    def monotonic(self) -> float:
        """Seconds since this clock was made."""
        return self._now

    def wall(self) -> float:
        """Seconds since the epoch."""
        return self._wall + self._now

    def set_wall(self, seconds: float) -> None:
        """Set the wall clock forward, or back; the monotonic one knows nothing of that."""
        self._wall += seconds

    async def sleep(self, seconds: float) -> None:
        """Wait until that many seconds of this clock have passed."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self._now + seconds, next(self._order), woken))
        await woken

    def spend(self, seconds: float) -> None:
        """Let work take that many seconds: what was due meanwhile comes late."""
        self._now += seconds

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no time pass meanwhile: put it around waits for a process, a thread or a socket."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            self._released.set()

    async def advance(self, seconds: float) -> None:
        """Let that many seconds pass, and all that is due within them run to its rest.

        Raises `RuntimeError` where the clock is driven already, or a task never rests.
        """
        end = self._now + seconds
        with self._driving():
            await self._rest()
            while self._next_due() <= end:
                self._wake_next()
                await self._rest()
            self._now = max(self._now, end)

    async def run(self, work: Coroutine[Any, Any, T], within: float = float("inf")) -> T:
        """Do `work`, letting time pass whenever all tasks wait; its result.

        Raises `RuntimeError` as `advance` does, and where all tasks wait but none sleeps;
        `TimeoutError` where more than `within` seconds would pass.
        """
        task = asyncio.get_running_loop().create_task(work)
        end = self._now + within
        try:
            with self._driving():
                await self._rest(task)
                while not task.done():
                    due = self._next_due()
                    if due == float("inf"):
                        raise RuntimeError(
                            f"virtual clock at {self._now} s: all tasks wait and none sleeps; "
                            "put held() around waits for a process, a thread or a socket"
                        )
                    if due > end:
                        raise TimeoutError(f"virtual clock: not done within {within:g} s")
                    self._wake_next()
                    await self._rest(task)
            return await task
        finally:
            task.cancel()
            await asyncio.wait({task})

    @contextmanager
    def _driving(self) -> Iterator[None]:
        if self._driven:
            raise RuntimeError("virtual clock: driven already; advance it from one task only")
        self._driven = True
        try:
            yield
        finally:
            self._driven = False

    def _next_due(self) -> float:
        while self._sleepers and self._sleepers[0][2].done():
            heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else float("inf")

    def _wake_next(self) -> None:
        due, _, woken = heappop(self._sleepers)
        self._now = max(self._now, due)
        woken.set_result(None)

    async def _rest(self, work: asyncio.Task[Any] | None = None) -> None:
        """Until all other tasks wait and the clock is not held, or `work` is done."""
        loop = asyncio.get_running_loop()
        # no public call says whether a loop has anything left to do now
        ready = getattr(loop, "_ready", None)
        if ready is None:
            raise RuntimeError(
                f"virtual clock: a {type(loop).__name__} does not show whether it is idle; "
                "run on asyncio's own event loop"
            )
        for _ in range(TURN_LIMIT):
            await asyncio.sleep(0)
            if work is not None and work.done():
                return
            if ready:
                continue
            if not self._holds:
                return
            self._released.clear()
            await self._released.wait()
        raise RuntimeError(f"virtual clock at {self._now} s: a task spins instead of sleeping")
