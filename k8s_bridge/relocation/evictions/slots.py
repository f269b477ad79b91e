"""Slots for evictions and their trials: so many at a time, so that writes keep turns at the gate.

A webhook may let every request about the pods of its namespace hang.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

EVICTIONS_AT_ONCE = 48
"""Requests under way at a time, of the 64 writes that pass the gate."""
EVICTIONS_AT_ONCE_PER_NAMESPACE = 16
"""The same for the pods of one namespace."""


@dataclass(slots=True, eq=False)
class EvictionSlots:
    """Slots of one term."""

    _all: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EVICTIONS_AT_ONCE))
    _of: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    _users: Counter[str] = field(default_factory=Counter)

    @asynccontextmanager
    async def slot(self, namespace: str) -> AsyncIterator[None]:
        """Hold a slot for a request about a pod of `namespace`, once there is one."""
        own = self._of.setdefault(namespace, asyncio.Semaphore(EVICTIONS_AT_ONCE_PER_NAMESPACE))
        self._users[namespace] += 1
        try:
            async with own, self._all:
                yield
        finally:
            self._users[namespace] -= 1
            if not self._users[namespace]:
                del self._users[namespace], self._of[namespace]
