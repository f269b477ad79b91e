"""The gate in the write path: shut unless this process is known to lead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from fourleaf.k8s_bridge.cluster.kinds import LEASES, Kind
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Cluster, Listing, Target, WatchEvent
from fourleaf.k8s_bridge.election.request_turns import RequestTurns
from fourleaf.k8s_bridge.runtime.clock import Clock


class NotLeader(Exception):
    """This process does not lead, or cannot know that it still does."""


class Gate:
    """Open until a moment of the monotonic clock, which each renewal moves on."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until = float("-inf")

    def open_until(self, moment: float) -> None:
        """Let writes pass until `moment` of the monotonic clock."""
        self._until = moment

    def shut(self) -> None:
        """Let no write pass any more."""
        self._until = float("-inf")

    @property
    def is_open(self) -> bool:
        """Whether a write may pass now."""
        return self._clock.monotonic() < self._until

    def check(self) -> None:
        """Raise `NotLeader` where the gate is shut."""
        if not self.is_open:
            raise NotLeader("the leader's lease is not ours, or was not renewed in time")


CONCURRENT_WRITES = 64
"""Writes under way at a time: more do not make the API faster, and the renewal would wait."""
CONCURRENT_RECORD_WRITES = 32
"""Writes of Leases, which are our own, beside them: those of all tenants may hang."""

CONCURRENT_READS = 32
"""Reads of single objects of namespaces, but Leases: a tenant may have thousands asked for."""


class GatedCluster:
    """A cluster whose writes pass the gate, so many at a time; reads pass as well.

    The gate is asked when it is a write's turn, just before it is sent.
    """

    def __init__(self, cluster: Cluster, gate: Gate, at_once: int = CONCURRENT_WRITES) -> None:
        self._cluster = cluster
        self._gate = gate
        self._turns = RequestTurns(at_once)
        self._record_turns = asyncio.Semaphore(CONCURRENT_RECORD_WRITES)
        self._reads = RequestTurns(CONCURRENT_READS)

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """List, ungated."""
        return await self._cluster.list(kind, namespace, labels, cached, fields)

    def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """Watch, ungated."""
        return self._cluster.watch(kind, version, namespace, labels, fields)

    async def get(self, kind: Kind, target: Target) -> Body:
        """Get, ungated; objects of tenants so many at a time."""
        if kind == LEASES or not target.namespace:
            return await self._cluster.get(kind, target)
        async with self._reads.turn(target.namespace):
            return await self._cluster.get(kind, target)

    async def create(self, kind: Kind, namespace: str, body: Body) -> Body:
        """Create, where the gate is open."""
        async with self._turn(kind, namespace):
            self._gate.check()
            return await self._cluster.create(kind, namespace, body)

    async def replace(self, kind: Kind, target: Target, body: Body) -> Body:
        """Replace, where the gate is open."""
        async with self._turn(kind, target.namespace):
            self._gate.check()
            return await self._cluster.replace(kind, target, body)

    async def patch(self, kind: Kind, target: Target, patch: Body, subresource: str = "") -> Body:
        """Patch, where the gate is open."""
        async with self._turn(kind, target.namespace):
            self._gate.check()
            return await self._cluster.patch(kind, target, patch, subresource)

    async def apply(
        self, kind: Kind, target: Target, body: Body, manager: str, subresource: str = ""
    ) -> Body:
        """Apply, where the gate is open."""
        async with self._turn(kind, target.namespace):
            self._gate.check()
            return await self._cluster.apply(kind, target, body, manager, subresource)

    async def delete(self, kind: Kind, target: Target) -> None:
        """Delete, where the gate is open."""
        async with self._turn(kind, target.namespace):
            self._gate.check()
            await self._cluster.delete(kind, target)

    async def bind(self, binding: Binding, dry_run: bool = False) -> None:
        """Bind, where the gate is open."""
        async with self._turns.turn(binding.pod.namespace):
            self._gate.check()
            await self._cluster.bind(binding, dry_run)

    async def evict(self, pod: Target, dry_run: bool = False, at_once: bool = False) -> None:
        """Evict, where the gate is open."""
        async with self._turns.turn(pod.namespace):
            self._gate.check()
            await self._cluster.evict(pod, dry_run, at_once)

    def _turn(self, kind: Kind, namespace: str) -> AbstractAsyncContextManager[None]:
        return self._record_turns if kind == LEASES else self._turns.turn(namespace)

    async def close(self) -> None:
        """Leave the connections to their owner."""
