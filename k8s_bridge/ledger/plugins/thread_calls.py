"""Calls of what may hang, each in a thread of its own; none waits for ever, or for another's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import in_thread

_Answer = TypeVar("_Answer")


class ThreadCalls:
    """Calls that take `patience` seconds at most, `at_once` of each owner at a time.

    A thread cannot be ended: one that hangs keeps its turn, and so takes it from its owner alone.
    """

    def __init__(self, clock: Clock, patience: float, at_once: int) -> None:
        self._clock = clock
        self._patience = patience
        self._at_once = at_once
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def call(self, owner: str, work: Callable[[], _Answer]) -> _Answer:
        """What `work`, which raises nothing, answers; `TimeoutError` where it is not in time."""
        asked = asyncio.ensure_future(self._in_turn(owner, work))
        timer = asyncio.ensure_future(self._clock.sleep(self._patience))
        try:
            await asyncio.wait({asked, timer}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                raise TimeoutError
            return asked.result()
        finally:
            asked.cancel()
            timer.cancel()

    async def _in_turn(self, owner: str, work: Callable[[], _Answer]) -> _Answer:
        turns = self._turns.setdefault(owner, asyncio.Semaphore(self._at_once))
        await turns.acquire()
        return await in_thread(work, "plugin", partial(turns.release))
