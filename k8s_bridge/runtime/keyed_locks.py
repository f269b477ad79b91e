"""Keyed locks: of all that use the same thing in this process, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary


class KeyedLocks:
    """A lock for each key; one that is not in use takes no memory."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def held(self) -> bool:
        """Whether anything is in use."""
        return any(lock.locked() for lock in self._locks.values())

    def holds(self, key: str) -> bool:
        """Whether that is in use."""
        lock = self._locks.get(key)
        return lock is not None and lock.locked()

    @asynccontextmanager
    async def of(self, keys: Iterable[str]) -> AsyncIterator[None]:
        """Hold the locks of these keys, taken in their order: two holders never wait in a ring."""
        locks = [self._locks.setdefault(key, asyncio.Lock()) for key in sorted(set(keys))]
        async with AsyncExitStack() as stack:
            for lock in locks:
                await stack.enter_async_context(lock)
            yield
