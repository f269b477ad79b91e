"""What lies between one process and the API server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Listing, Target, WatchEvent
from tests.simulation.clocks import MachineClock
from tests.simulation.faults.fault import Fate, Fault, Hitch

if TYPE_CHECKING:
    from tests.simulation.world import World

T = TypeVar("T")

LATENCY = 0.01
"""Seconds that a request takes at most on each way, without any fault."""


class Wire:
    """The `Cluster` protocol as one process has it: slow, lossy, and at times silent.

    What was sent goes its way whatever becomes of its sender.
    """

    def __init__(
        self,
        world: World,
        identity: str,
        machine: MachineClock,
        faults: Iterable[Fault],
        chance: random.Random,
    ) -> None:
        self.dead = False
        self._world = world
        self._identity = identity
        self._machine = machine
        self._faults = tuple(faults)
        self._chance = chance
        self._server = MemoryCluster(world.store, identity=identity, interceptors=(self,))

    async def before(self, request: ApiRequest) -> None:
        """Sign what arrives, so that those who judge know whose it is."""
        if request.writes:
            self._world.store.writer = request.identity

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Nothing more to sign."""

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """See `Cluster.list`; a reflection's may be old."""
        old = self._age(kind, cached)
        if old:
            listing = self._world.past.listing(kind, old, namespace, labels)
            if listing is not None:
                self._world.story.struck("stale list", f"{kind.plural} as {old} s ago")
                self._hear(kind, listing.items)
                return await self._ask("list", kind, Target(namespace, ""), _given(listing))
        send = lambda: self._server.list(kind, namespace, labels, fields=fields)  # noqa: E731
        found = await self._ask("list", kind, Target(namespace, ""), send)
        self._hear(kind, found.items)
        return found

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """See `Cluster.watch`."""
        target = Target(namespace, "", version=version)
        await self._ask("watch", kind, target, _given(None))
        events = self._server.watch(kind, version, namespace, labels, fields)
        earlier: WatchEvent | None = None
        assert isinstance(events, AsyncGenerator)
        async with aclosing(events):
            async for event in events:
                if event.type == "OPENED":
                    yield event
                    continue
                hitch = self._hitch(kind)
                if hitch is not None:
                    self._world.story.struck(hitch.fault, f"{self._identity} {kind.plural}")
                    if kind is PODS:
                        self._world.evictions.deaf(hitch.silent)
                    await self._world.clock.sleep(hitch.silent)
                    if hitch.error is not None:
                        raise hitch.error
                    if hitch.ends:
                        return
                await self._awake()
                if hitch is not None and hitch.repeats and earlier is not None:
                    yield earlier
                earlier = event
                self._hear(kind, [event.object])
                yield event

    def _hear(self, kind: Kind, bodies: Iterable[Body]) -> None:
        """Take note of the owners of pods that the process gets to know."""
        if kind.makes_pods:
            uids = (body["metadata"].get("uid", "") for body in bodies)
            self._world.told[self._identity].update(uids)

    async def get(self, kind: Kind, target: Target) -> Body:
        """See `Cluster.get`."""
        return await self._ask("get", kind, target, lambda: self._server.get(kind, target))

    async def create(self, kind: Kind, namespace: str, body: Body) -> Body:
        """See `Cluster.create`."""
        target = Target(namespace, (body.get("metadata") or {}).get("name", ""))
        send = lambda: self._server.create(kind, namespace, body)  # noqa: E731
        return await self._ask("create", kind, target, send, body)

    async def replace(self, kind: Kind, target: Target, body: Body) -> Body:
        """See `Cluster.replace`."""
        send = lambda: self._server.replace(kind, target, body)  # noqa: E731
        return await self._ask("update", kind, target, send, body)

    async def patch(self, kind: Kind, target: Target, patch: Body, subresource: str = "") -> Body:
        """See `Cluster.patch`."""
        send = lambda: self._server.patch(kind, target, patch, subresource)  # noqa: E731
        return await self._ask("patch", kind, target, send, patch, subresource)

    async def apply(
        self, kind: Kind, target: Target, body: Body, manager: str, subresource: str = ""
    ) -> Body:
        """See `Cluster.apply`."""
        send = lambda: self._server.apply(kind, target, body, manager, subresource)  # noqa: E731
        return await self._ask("apply", kind, target, send, body, subresource)

    async def delete(self, kind: Kind, target: Target) -> None:
        """See `Cluster.delete`."""
        if kind is PODS:
            self._world.story.broken("pods are evicted, never deleted", str(target))
        await self._ask("delete", kind, target, lambda: self._server.delete(kind, target))

    async def bind(self, binding: Binding, dry_run: bool = False) -> None:
        """See `Cluster.bind`."""
        send = lambda: self._server.bind(binding, dry_run)  # noqa: E731
        await self._ask("create", PODS, binding.pod, send, binding, "binding", dry_run)

    async def evict(self, pod: Target, dry_run: bool = False, at_once: bool = False) -> None:
        """See `Cluster.evict`."""
        named = self._world.books.names_leaver(pod.uid)
        send = lambda: self._evicted(pod, dry_run, at_once, named)  # noqa: E731
        await self._ask("create", PODS, pod, send, None, "eviction", dry_run)

    async def _evicted(self, pod: Target, dry_run: bool, at_once: bool, named: bool) -> None:
        """Count what a budget forbids; tell who judges whether it was `named` when it was sent."""
        self._world.books.sent_for = pod.uid if named else ""
        try:
            await self._server.evict(pod, dry_run, at_once)
        except (Throttled, Ambiguous) as error:
            self._world.story.did("eviction forbidden by a budget", f"{pod}: {error}")
            raise
        finally:
            self._world.books.sent_for = ""

    async def close(self) -> None:
        """Give back nothing."""

    async def _ask(
        self,
        verb: str,
        kind: Kind,
        target: Target,
        send: Callable[[], Awaitable[T]],
        body: Any = None,
        subresource: str = "",
        dry_run: bool = False,
    ) -> T:
        """Send a request and wait for its answer."""
        await self._awake()
        request = ApiRequest(self._identity, verb, kind, target, subresource, body, dry_run)
        self._world.story.requests[self._identity] += 1
        fate = self._fate(request)
        if fate.fault:
            what = f"{self._identity} {verb} {kind.plural}/{subresource} {target}"
            self._world.story.struck(fate.fault, what)
            if isinstance(fate.answer, Refused):
                self._world.evictions.refused(subresource, target.name, dry_run)
        journey = self._world.spawn(self._journey(fate, send))
        try:
            return await asyncio.shield(journey)
        finally:
            if not self.dead:
                await self._machine.running()

    async def _journey(self, fate: Fate, send: Callable[[], Awaitable[T]]) -> T:
        """There, and back."""
        sleep = self._world.clock.sleep
        if fate.again is not None and not fate.second:
            self._world.spawn(self._once_more(fate.again, send))
        await sleep(self._chance.uniform(0, LATENCY) + fate.there)
        try:
            if fate.arrives:
                answer = await self._done(send)
            if fate.second:
                await sleep(fate.again or 0.0)
                answer = await self._done(send)
        finally:
            await sleep(self._chance.uniform(0, LATENCY) + fate.back)
        if fate.answer is not None:
            raise fate.answer
        return answer

    async def _done(self, send: Callable[[], Awaitable[T]]) -> T:
        """What the server does and answers; signed for no longer than that."""
        try:
            return await send()
        finally:
            self._world.store.writer = ""

    async def _once_more(self, later: float, send: Callable[[], Awaitable[Any]]) -> None:
        """The same request again, whose answer nobody hears."""
        await self._world.clock.sleep(later)
        try:
            await self._done(send)
        except ClusterError:
            return

    async def _awake(self) -> None:
        """Wait until the process runs. A dead one gets no answers."""
        if self.dead:
            raise Ambiguous("the process is dead")
        await self._machine.running()

    def _fate(self, request: ApiRequest) -> Fate:
        for fault in self._world.striking(self._faults):
            fate = fault.on_request(self._identity, request, self._now())
            if fate is not None:
                return fate
        return Fate("")

    def _hitch(self, kind: Kind) -> Hitch | None:
        for fault in self._world.striking(self._faults):
            hitch = fault.on_event(self._identity, kind, self._now())
            if hitch is not None:
                return hitch
        return None

    def _age(self, kind: Kind, cached: bool) -> float:
        """How old a list may be: a quorum read of the ledger's is always new."""
        task = asyncio.current_task()
        if not cached and not (task and task.get_name().startswith("reflect ")):
            return 0.0
        ages = [
            f.on_list(self._identity, kind, self._now()) for f in self._world.striking(self._faults)
        ]
        return max(ages, default=0.0)

    def _now(self) -> float:
        return self._world.clock.monotonic()


def _given(answer: T) -> Callable[[], Awaitable[T]]:
    async def give() -> T:
        return answer

    return give
