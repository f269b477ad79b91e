"""A client of the cluster in memory, as one identity."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.memory import applying, pods
from fourleaf.k8s_bridge.cluster.memory.refusals import invalid
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest, Interceptor
from fourleaf.k8s_bridge.cluster.memory.selection import Predicate, selection
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Listing, Target, WatchEvent
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.readers.text.merge_patch import merged


class MemoryCluster:
    """The `Cluster` protocol over a `MemoryStore`, which several clients may share.

    `interceptors` see every request of this client, in order.
    """

    def __init__(
        self,
        store: MemoryStore | None = None,
        *,
        clock: Clock | None = None,
        identity: str = "",
        interceptors: Sequence[Interceptor] = (),
    ) -> None:
        self.store = store or MemoryStore(clock)
        self.identity = identity
        self.interceptors = list(interceptors)

    def client(self, identity: str, *interceptors: Interceptor) -> MemoryCluster:
        """Another client of the same store."""
        return MemoryCluster(self.store, identity=identity, interceptors=interceptors)

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """All objects of `kind`; see `Cluster.list`. What is cached here is never old."""
        request = self._request("list", kind, Target(namespace, "", version="0" if cached else ""))
        await self._before(request)
        selects = selection(kind, labels, fields)
        found = (r for r in self.store.records(kind, namespace) if selects(r))
        listing = Listing([r.listed() for r in found], str(self.store.version))
        await self._after(request, listing)
        return listing

    async def pages(
        self, kind: Kind, namespace: str, size: int, fields: str = ""
    ) -> AsyncIterator[Sequence[Body]]:
        """The objects of `kind`, a page at a time; see `PagedCluster.pages`."""
        items = (await self.list(kind, namespace, fields=fields)).items
        for first in range(0, max(1, len(items)), size):
            yield items[first : first + size]

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """What happens after `version`; "" or "0" start with what is there, as `ADDED`."""
        request = self._request("watch", kind, Target(namespace, "", version=version))
        await self._before(request)
        selects = selection(kind, labels, fields)
        start = int(version or 0)
        journal = self.store.journal(kind)
        if not start:
            start = self.store.version
            for event in self._present(kind, namespace, selects):
                await self._after(request, event)
                yield event
        async for event in journal.events(start, namespace, selects):
            if event.type != "OPENED":
                await self._after(request, event)
            yield event

    def _present(self, kind: Kind, namespace: str, selects: Predicate) -> Sequence[WatchEvent]:
        found = self.store.records(kind, namespace)
        return [WatchEvent("ADDED", r.listed()) for r in found if selects(r)]

    async def get(self, kind: Kind, target: Target) -> Body:
        """The object; see `Cluster.get`."""
        request = self._request("get", kind, target)
        await self._before(request)
        body = self.store.find(kind, target).whole()
        await self._after(request, body)
        return body

    async def create(self, kind: Kind, namespace: str, body: Body) -> Body:
        """Create `body`; see `Cluster.create`."""
        name = (body.get("metadata") or {}).get("name", "")
        request = self._request("create", kind, Target(namespace, name), body=body)
        await self._before(request)
        made = self.store.create(kind, namespace, body).whole()
        await self._after(request, made)
        return made

    async def replace(self, kind: Kind, target: Target, body: Body) -> Body:
        """Replace the object that has `target.version`; see `Cluster.replace`."""
        request = self._request("update", kind, target, body=body)
        await self._before(request)
        if not target.version:
            why = "must be specified for an update"
            raise invalid(target.name, "metadata.resourceVersion", why)
        record = self.store.find_exact(kind, target)
        made = self.store.update(kind, record, body).whole()
        await self._after(request, made)
        return made

    async def patch(self, kind: Kind, target: Target, patch: Body, subresource: str = "") -> Body:
        """Apply a JSON merge patch; see `Cluster.patch`."""
        request = self._request("patch", kind, target, subresource, patch)
        await self._before(request)
        record = self.store.find_exact(kind, target)
        body = merged(record.body, patch)
        made = self.store.update(kind, record, body, subresource).whole()
        await self._after(request, made)
        return made

    async def apply(
        self, kind: Kind, target: Target, body: Body, manager: str, subresource: str = ""
    ) -> Body:
        """Apply `body` server-side; see `Cluster.apply`."""
        request = self._request("apply", kind, target, subresource, body)
        await self._before(request)
        made = applying.apply(self.store, kind, target, body, manager, subresource).whole()
        await self._after(request, made)
        return made

    async def delete(self, kind: Kind, target: Target) -> None:
        """Delete the object; see `Cluster.delete`."""
        request = self._request("delete", kind, target)
        await self._before(request)
        record = self.store.find_exact(kind, target)
        self.store.remove(record, pods.grace(record) if kind == PODS else 0)
        await self._after(request, None)

    async def bind(self, binding: Binding, dry_run: bool = False) -> None:
        """Bind a pod; see `Cluster.bind`."""
        request = self._request("create", PODS, binding.pod, "binding", binding, dry_run)
        await self._before(request)
        pods.bind(self.store, binding, dry_run)
        await self._after(request, None)

    async def evict(self, pod: Target, dry_run: bool = False, at_once: bool = False) -> None:
        """Evict a pod; see `Cluster.evict`."""
        request = self._request("create", PODS, pod, "eviction", at_once, dry_run)
        await self._before(request)
        pods.evict(self.store, pod, dry_run, at_once)
        await self._after(request, None)

    async def close(self) -> None:
        """Give back nothing: there are no connections."""

    def _request(
        self,
        verb: str,
        kind: Kind,
        target: Target,
        subresource: str = "",
        body: Any = None,
        dry_run: bool = False,
    ) -> ApiRequest:
        return ApiRequest(self.identity, verb, kind, target, subresource, body, dry_run)

    async def _before(self, request: ApiRequest) -> None:
        # a request gives way once, as on a network, so that others run between any two
        await asyncio.sleep(0)
        for interceptor in self.interceptors:
            await interceptor.before(request)

    async def _after(self, request: ApiRequest, answer: Any) -> None:
        for interceptor in self.interceptors:
            await interceptor.after(request, answer)
