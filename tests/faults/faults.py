"""What a proxy does to a request instead of passing it on."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tests.faults.asked import Asked

POLL = 0.02
"""Seconds between two looks at whether something may go on."""


class Dropped(Exception):
    """The connection breaks here, without an answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the apiserver, or one that is made up."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request on its way.

    `forward` sends it on and tells the answer. `old_list` tells the newest answer to the same
    list that is at least so many seconds old, None where there is none.
    """

    asked: Asked
    forward: Callable[[], Awaitable[Reply]]
    old_list: Callable[[float], Reply | None]


class Fault(Protocol):
    """One way to treat a request. Raises `Dropped` where nobody gets an answer."""

    async def apply(self, exchange: Exchange) -> Reply:
        """Treat it."""
        ...


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing; of use with a trigger."""

    async def apply(self, exchange: Exchange) -> Reply:
        """Forward."""
        return await exchange.forward()


@dataclass(frozen=True, slots=True)
class DropBefore:
    """The request is lost on its way."""

    async def apply(self, exchange: Exchange) -> Reply:
        """Drop."""
        raise Dropped


@dataclass(frozen=True, slots=True)
class DropAfter:
    """The request is carried out, and its answer is lost."""

    async def apply(self, exchange: Exchange) -> Reply:
        """Forward, then drop."""
        await exchange.forward()
        raise Dropped


@dataclass(frozen=True, slots=True)
class Delay:
    """The request is late by `seconds`."""

    seconds: float
    then: Fault = field(default_factory=Pass)

    async def apply(self, exchange: Exchange) -> Reply:
        """Wait, then forward."""
        await asyncio.sleep(self.seconds)
        return await self.then.apply(exchange)


@dataclass(frozen=True, slots=True)
class Refuse:
    """The request is answered by the proxy, in the name of the apiserver.

    `retry_after` in seconds.
    """

    status: int
    message: str = "made up by a test"
    reason: str = ""
    retry_after: int | None = None

    async def apply(self, exchange: Exchange) -> Reply:
        """Answer."""
        status = {
            "apiVersion": "v1",
            "kind": "Status",
            "status": "Failure",
            "code": self.status,
            "reason": self.reason,
            "message": self.message,
        }
        headers = {"Content-Type": "application/json"}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        return Reply(self.status, json.dumps(status).encode(), headers)


CONFLICT = Refuse(409, "the object has been modified", "Conflict")
BUSY = Refuse(429, "too many requests", "TooManyRequests", retry_after=1)
BROKEN = Refuse(500, "etcdserver: request timed out", "InternalError")
FORBIDDEN = Refuse(403, 'admission webhook "another.example" denied the request', "Forbidden")


@dataclass(slots=True, eq=False)
class Hold:
    """The request waits until `release`, whoever has gone meanwhile, and is then forwarded."""

    then: Fault = field(default_factory=Pass)
    _released: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        """Let it go on; later ones are not held."""
        self._released.set()

    async def apply(self, exchange: Exchange) -> Reply:
        """Wait, then forward."""
        while not self._released.is_set():
            await asyncio.sleep(POLL)
        return await self.then.apply(exchange)


@dataclass(frozen=True, slots=True)
class OldList:
    """A list is answered as it was `older` seconds ago; as it is, where it was not asked then."""

    older: float

    async def apply(self, exchange: Exchange) -> Reply:
        """Answer from memory."""
        return exchange.old_list(self.older) or await exchange.forward()
