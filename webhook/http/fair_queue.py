"""Fair queue of dear reviews: one at a time, of each address by round robin, and time between.

Reviews are answered by one thread. A short one takes it a millisecond, the longest that is read a
few hundred; a client that sends those side by side must keep none waiting for all of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fourleaf.webhook.http.body import USUAL_BODY_BYTES

DEAR_ENTRIES = 4000
"""Entries, about, from which a review is queued however short it is."""


def is_dear(body: bytes) -> bool:
    """Whether a review may take long to answer."""
    return len(body) > USUAL_BODY_BYTES or body.count(b"{") + body.count(b":") > DEAR_ENTRIES


class FairQueue:
    """Lets reviews through. `now` is in seconds of any clock that does not jump."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._is_taken = False
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def passed(self, body: bytes, address: str) -> AsyncIterator[bool]:
        """Hold up all other dear reviews, where this one of `address` is dear; whether it is.

        None begins after it for as long as it has lasted.
        """
        if not is_dear(body):
            yield False
            return
        await self._wait(address)
        began = self._now()
        try:
            yield True
        finally:
            asyncio.get_running_loop().call_later(max(0.0, self._now() - began), self._next)

    async def _wait(self, address: str) -> None:
        if not self._is_taken:
            self._is_taken = True
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._next()
            raise

    def _next(self) -> None:
        """Let the first of the address pass that has waited longest since one of it did."""
        while self._waiting:
            address, own = next(iter(self._waiting.items()))
            following = own.popleft()
            del self._waiting[address]
            if own:
                self._waiting[address] = own
            if not following.done():
                following.set_result(None)
                return
        self._is_taken = False
