"""Calls of what may hang, each in a thread of its own; none waits for ever, or for another's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import in_thread

MOST_THREADS = 256
"""Threads in all, those that hang among them."""

_Answer = TypeVar("_Answer")


class NoThread(Exception):
    """No thread can be started for a call."""


class ThreadCalls:
    """Calls that take `patience` seconds at most, `at_once` of each owner at a time.

    A thread cannot be ended: one that hangs keeps its turn, and so takes it from its owner alone.
    There are `MOST_THREADS` in all: a process without a thread left would lose more than these.
    """

    def __init__(self, clock: Clock, patience: float, at_once: int) -> None:
        self._clock = clock
        self._patience = patience
        self._at_once = at_once
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """Of owners whose calls wait or are under way."""
        self._threads = 0

    async def call(self, owner: str, work: Callable[[], _Answer]) -> _Answer:
        """What `work`, which raises nothing, answers.

        Raises `TimeoutError` where it is not in time, `NoThread` where none can be started.
        """
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
        if self._threads >= MOST_THREADS:
            turns.release()
            raise NoThread(f"{MOST_THREADS} calls have not come back")
        self._threads += 1
        try:
            answer = in_thread(work, "plugin", partial(self._ended, turns))
        except RuntimeError as error:
            self._ended(turns)
            raise NoThread(str(error)) from error
        return await answer

    def _ended(self, turns: asyncio.Semaphore) -> None:
        self._threads -= 1
        turns.release()
