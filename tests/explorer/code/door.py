"""Where every request of a leader waits until it is let through, or worse."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Conflict, Refused, Throttled
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Binding


class Fate(StrEnum):
    """What becomes of a request; all but the first are faults.

    `lost`: it never arrives. `unanswered`: it is done, its answer is lost. `late`: its sender
    hears nothing, and it may still be done at any later moment. `throttled`, `conflicting`,
    `refused`: it is not done, for no reason of the protocol's.
    """

    DONE = "done"
    LOST = "lost"
    UNANSWERED = "unanswered"
    LATE = "late"
    THROTTLED = "throttled"
    CONFLICTING = "conflicting"
    REFUSED = "refused"


READS = (Fate.DONE, Fate.LOST)
WRITES = (
    Fate.DONE,
    Fate.UNANSWERED,
    Fate.LATE,
    Fate.THROTTLED,
    Fate.CONFLICTING,
    Fate.REFUSED,
)
"""A late write that never arrives is a lost one."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A request that waits. A `look` waits for something new to be seen."""

    number: int
    request: ApiRequest | None
    fate: asyncio.Future[Fate]

    def __str__(self) -> str:
        if self.request is None:
            return "looks again"
        what = self.request.subresource or self.request.kind.plural
        of = f" {self.request.target.name}" if self.request.target.name else ""
        to = f" to {self.request.body.node}" if isinstance(self.request.body, Binding) else ""
        return f"{self.request.verb} {what}{of}{to}"

    @property
    def fates(self) -> tuple[Fate, ...]:
        """What may become of it."""
        if self.request is None:
            return (Fate.DONE,)
        return WRITES if self.request.writes else READS


@dataclass(slots=True, eq=False)
class Door:
    """An interceptor that lets nothing through; `late` requests are still on their way."""

    loop: asyncio.AbstractEventLoop
    late: list[ApiRequest]
    waiting: dict[int, Call] = field(default_factory=dict)
    _count: int = 0
    _unanswered: bool = False

    async def look(self) -> None:
        """Wait for a turn without asking for anything."""
        await self._wait(None)

    async def before(self, request: ApiRequest) -> None:
        """Hold the request until its fate is known."""
        fate = await self._wait(request)
        self._unanswered = fate is Fate.UNANSWERED
        match fate:
            case Fate.LOST:
                raise Ambiguous("no answer")
            case Fate.LATE:
                self.late.append(request)
                raise Ambiguous("no answer")
            case Fate.THROTTLED:
                raise Throttled("too many requests", 429)
            case Fate.CONFLICTING:
                raise Conflict("please try again", 409, "Conflict")
            case Fate.REFUSED:
                raise Refused("admission webhook denied the request", 422, "Invalid")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Lose the answer where it is to be lost."""
        if self._unanswered:
            raise Ambiguous("no answer")

    async def _wait(self, request: ApiRequest | None) -> Fate:
        self._count += 1
        call = Call(self._count, request, self.loop.create_future())
        self.waiting[call.number] = call
        try:
            return await call.fate
        finally:
            del self.waiting[call.number]


async def arrive(cluster: MemoryCluster, request: ApiRequest) -> None:
    """Do a request that was late; `cluster` is its sender's, without any door."""
    target, kind = request.target, request.kind
    match request.verb, request.subresource:
        case "create", "binding":
            await cluster.bind(request.body, request.dry_run)
        case "create", "eviction":
            await cluster.evict(target, request.dry_run, bool(request.body))
        case "create", _:
            await cluster.create(kind, target.namespace, request.body)
        case "update", _:
            await cluster.replace(kind, target, request.body)
        case "patch", _:
            await cluster.patch(kind, target, request.body)
        case "delete", _:
            await cluster.delete(kind, target)
