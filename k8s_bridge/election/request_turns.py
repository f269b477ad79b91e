"""Request turns: so many requests at a time, shared among namespaces: none waits for another's.

A webhook may let every request about the objects of one namespace hang.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class RequestTurns:
    """`at_once` turns, which namespaces share.

    One may have as many as it leaves free, and a quarter is for those that have none: else seven
    in a row, each with half of what the last one left, would have them all. The next is for the
    namespace that has the fewest.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._for_first = at_once // 4
        self._taken: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, namespace: str) -> AsyncIterator[None]:
        """Hold a turn for a request in `namespace`, once there is one."""
        await self._take(namespace)
        try:
            yield
        finally:
            self._give_back(namespace)

    async def _take(self, namespace: str) -> None:
        if namespace not in self._waiting and self._has_turn(namespace):
            self._count(namespace)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(namespace, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                # It had its turn in the same moment.
                self._give_back(namespace)
            raise

    def _has_turn(self, namespace: str) -> bool:
        taken = self._taken[namespace]
        return self._free - self._for_first >= taken if taken else self._free > 0

    def _count(self, namespace: str) -> None:
        self._free -= 1
        self._taken[namespace] += 1

    def _give_back(self, namespace: str) -> None:
        self._free += 1
        self._taken[namespace] -= 1
        if not self._taken[namespace]:
            del self._taken[namespace]
        while (following := self._next()) is not None:
            # To the end of the line with those of it that wait for another one.
            waiting = self._waiting.pop(following)
            turn = waiting.popleft()
            if waiting:
                self._waiting[following] = waiting
            if not turn.cancelled():
                self._count(following)
                turn.set_result(None)

    def _next(self) -> str | None:
        """The namespace whose turn it is: one without any, else that with the fewest."""
        fewest: str | None = None
        for namespace in self._waiting:
            if not self._has_turn(namespace):
                continue
            taken = self._taken[namespace]
            if not taken:
                return namespace
            if fewest is None or taken < self._taken[fewest]:
                fewest = namespace
        return fewest
