"""What a proxy does to the events of a watch. Their order is never changed.

An apiserver may be late, repeat itself after a new connection, or break off. It does not
deliver an older event after a newer one, so whoever is held back holds back all behind.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.faults.asked import Asked
from tests.faults.faults import POLL, Dropped

Told = dict[str, Any]
"""An event: `type` and `object`."""

EventMatch = Callable[[Asked, Told], bool]
Send = Callable[[], Awaitable[None]]


class EventFault(Protocol):
    """One way to treat an event. Raises `Dropped` where the watch breaks."""

    async def apply(self, arrived: float, send: Send) -> None:
        """Treat an event that came at `arrived` on the monotonic clock."""
        ...


@dataclass(frozen=True, slots=True)
class Late:
    """Each event is passed on `seconds` after it came."""

    seconds: float

    async def apply(self, arrived: float, send: Send) -> None:
        """Wait, then send."""
        await asyncio.sleep(max(0.0, arrived + self.seconds - time.monotonic()))
        await send()


@dataclass(frozen=True, slots=True)
class Twice:
    """Each event is told twice."""

    async def apply(self, arrived: float, send: Send) -> None:
        """Send, and send again."""
        await send()
        await send()


@dataclass(frozen=True, slots=True)
class Cut:
    """The watch breaks before the event."""

    async def apply(self, arrived: float, send: Send) -> None:
        """Break."""
        raise Dropped


@dataclass(slots=True, eq=False)
class Withheld:
    """The event, and all that follow in its watch, wait until `release`."""

    _released: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        """Let events pass."""
        self._released.set()

    async def apply(self, arrived: float, send: Send) -> None:
        """Wait, then send."""
        while not self._released.is_set():
            await asyncio.sleep(POLL)
        await send()


def any_event(_: Asked, __: Told) -> bool:
    """Match every event of every watch."""
    return True


def events_of(resource: str) -> EventMatch:
    """Match every event of a resource, bookmarks included."""
    return lambda one, _: one.resource == resource


def events_of_namespace(resource: str, namespace: str) -> EventMatch:
    """Match the events of a resource that are about objects in a namespace."""

    def match(one: Asked, told: Told) -> bool:
        about = told.get("object", {}).get("metadata", {}).get("namespace")
        return one.resource == resource and about == namespace

    return match
