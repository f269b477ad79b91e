"""A client of a kube-apiserver."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from typing import Any
from urllib.parse import urlencode

import orjson

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Gone, Refused
from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.live.answers import watch_error
from fourleaf.k8s_bridge.cluster.live.credentials import Credentials
from fourleaf.k8s_bridge.cluster.live.transport import (
    APPLY_PATCH,
    JSON,
    MERGE_PATCH,
    Traffic,
    Transport,
)
from fourleaf.k8s_bridge.cluster.protocol import (
    Binding,
    Body,
    Listing,
    Target,
    WatchEvent,
    opened,
)
from fourleaf.k8s_bridge.cluster.slim import ListPage, event_of, sliced_page

PAGE_OBJECTS = 2500
"""Objects in one page of a list."""

CONNECTIONS = 64 + 32 + 32 + 64
"""Connections at once: 64 writes, 32 of records, 32 reads, and as many watches as there are kinds.

What is left is for lists and for the renewal of the lead.
"""

WATCH_SECONDS = (300, 600)
"""How long a watch may last: at random, so that not all end at once."""


async def connect(
    kubeconfig: str | None = None, context: str | None = None, connections: int = CONNECTIONS
) -> LiveCluster:
    """A client for `context` of `kubeconfig`; without one, the usual file or the pod's account.

    Sends nothing yet. Raises `Refused` where the credentials cannot be read.
    """
    return LiveCluster(await Credentials.load(kubeconfig, context), connections)


class LiveCluster:
    """The `Cluster` protocol over HTTP. `traffic` counts requests and bytes."""

    def __init__(self, credentials: Credentials, connections: int = CONNECTIONS) -> None:
        self.traffic = Traffic()
        self._credentials = credentials
        self._transport = Transport(credentials, connections, self.traffic)

    async def list(
        self,
        kind: Kind,
        namespace: str = "",
        labels: str = "",
        cached: bool = False,
        fields: str = "",
    ) -> Listing:
        """All objects of `kind`; see `Cluster.list`. In pages of `PAGE_OBJECTS`, or cached."""
        query = _selectors(labels, fields)
        if cached:
            return await self._pages(kind, namespace, query | {"resourceVersion": "0"})
        try:
            return await self._pages(kind, namespace, query | {"limit": str(PAGE_OBJECTS)})
        except Gone:
            # the version of the first page was compacted away; in one piece it cannot be
            return await self._pages(kind, namespace, query)

    async def pages(
        self, kind: Kind, namespace: str, size: int, fields: str = ""
    ) -> AsyncIterator[Sequence[Body]]:
        """The objects of `kind`, a page at a time; see `PagedCluster.pages`."""
        query = _selectors("", fields) | {"limit": str(size)}
        token = ""
        while True:
            page = await self._page(kind, namespace, query, token)
            yield page.items
            token = page.token
            if not token:
                return

    async def _page(
        self, kind: Kind, namespace: str, query: dict[str, str], token: str
    ) -> ListPage:
        more = {"continue": token} if token else {}
        path = _with(kind.path(namespace), query | more)
        content = await self._transport.request("list", kind.plural, "GET", path)
        page, slices = sliced_page(kind, content)
        for some in slices:
            page.items.extend(some)
            await asyncio.sleep(0)
        return page

    async def _pages(self, kind: Kind, namespace: str, query: dict[str, str]) -> Listing:
        items: list[Body] = []
        token = ""
        while True:
            page = await self._page(kind, namespace, query, token)
            items += page.items
            token = page.token
            if not token:
                return Listing(items, page.version)

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """What happens after `version`; see `Cluster.watch`. A broken connection ends it."""
        seconds = random.randint(*WATCH_SECONDS)  # noqa: S311 - to spread them, not to hide them
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
            **_selectors(labels, fields),
        }
        path = _with(kind.path(namespace), query)
        async with self._transport.stream("watch", kind.plural, path) as chunks:
            yield opened(version)
            async for line in lines(chunks):
                event = event_of(kind, line)
                if event.type == "ERROR":
                    raise watch_error(f"watch {path}", event.object)
                yield event

    async def get(self, kind: Kind, target: Target) -> Body:
        """The object; see `Cluster.get`."""
        path = kind.path(target.namespace, target.name)
        return _decoded(path, await self._transport.request("get", kind.plural, "GET", path))

    async def create(self, kind: Kind, namespace: str, body: Body) -> Body:
        """Create `body`; see `Cluster.create`."""
        if (body.get("metadata") or {}).get("resourceVersion"):
            # the apiserver answers 500 to this, as if it might have been done
            why = "resourceVersion should not be set on objects to be created"
            raise Refused(f"create {kind.plural}: {why}", 400, "BadRequest")
        body = {"apiVersion": kind.api_version, "kind": kind.name, **body}
        return await self._write("create", kind, "POST", kind.path(namespace), body)

    async def replace(self, kind: Kind, target: Target, body: Body) -> Body:
        """Replace the object that has `target.version`; see `Cluster.replace`."""
        if not target.version:
            why = "metadata.resourceVersion must be specified for an update"
            raise Refused(f"update {kind.plural} {target}: {why}", 422, "Invalid")
        metadata = {**(body.get("metadata") or {}), **_identity(target), "name": target.name}
        body = {"apiVersion": kind.api_version, "kind": kind.name, **body, "metadata": metadata}
        return await self._write(
            "update", kind, "PUT", kind.path(target.namespace, target.name), body
        )

    async def patch(self, kind: Kind, target: Target, patch: Body, subresource: str = "") -> Body:
        """Apply a JSON merge patch; see `Cluster.patch`."""
        identity = _identity(target)
        if identity:
            patch = {**patch, "metadata": {**(patch.get("metadata") or {}), **identity}}
        path = kind.path(target.namespace, target.name, subresource)
        return await self._write("patch", kind, "PATCH", path, patch, subresource, MERGE_PATCH)

    async def apply(
        self, kind: Kind, target: Target, body: Body, manager: str, subresource: str = ""
    ) -> Body:
        """Apply `body` server-side; see `Cluster.apply`."""
        metadata = {**(body.get("metadata") or {}), **_identity(target), "name": target.name}
        body = {"apiVersion": kind.api_version, "kind": kind.name, **body, "metadata": metadata}
        query = {"fieldManager": manager, "force": "true"}
        path = _with(kind.path(target.namespace, target.name, subresource), query)
        return await self._write("apply", kind, "PATCH", path, body, subresource, APPLY_PATCH)

    async def delete(self, kind: Kind, target: Target) -> None:
        """Delete the object; see `Cluster.delete`."""
        path = kind.path(target.namespace, target.name)
        await self._write("delete", kind, "DELETE", path, _options(target))

    async def bind(self, binding: Binding, dry_run: bool = False) -> None:
        """Bind a pod; see `Cluster.bind`."""
        pod = binding.pod
        metadata: dict[str, Any] = {"name": pod.name, "namespace": pod.namespace, **_identity(pod)}
        if binding.annotations:
            metadata["annotations"] = binding.annotations
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": metadata,
            "target": {"apiVersion": "v1", "kind": "Node", "name": binding.node},
        }
        path = PODS.path(pod.namespace, pod.name, "binding") + ("?dryRun=All" if dry_run else "")
        await self._write("create", PODS, "POST", path, body, "binding")

    async def evict(self, pod: Target, dry_run: bool = False, at_once: bool = False) -> None:
        """Evict a pod; see `Cluster.evict`."""
        options = _options(Target(pod.namespace, pod.name, pod.uid))
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": {**options, "gracePeriodSeconds": 0} if at_once else options,
        }
        path = PODS.path(pod.namespace, pod.name, "eviction") + ("?dryRun=All" if dry_run else "")
        await self._write("create", PODS, "POST", path, body, "eviction")

    async def close(self) -> None:
        """Give back connections and stop refreshing credentials."""
        await self._transport.close()
        await self._credentials.close()

    async def _write(
        self,
        verb: str,
        kind: Kind,
        method: str,
        path: str,
        body: Body,
        subresource: str = "",
        content_type: str = JSON,
    ) -> Body:
        named = f"{kind.plural}/{subresource}" if subresource else kind.plural
        content = orjson.dumps(body)
        answer = await self._transport.request(verb, named, method, path, content, content_type)
        return _decoded(path, answer)


def _with(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _selectors(labels: str, fields: str) -> dict[str, str]:
    found = {"labelSelector": labels, "fieldSelector": fields}
    return {key: value for key, value in found.items() if value}


def _identity(target: Target) -> dict[str, str]:
    """UID and version of `target`, as metadata has them."""
    found = {"uid": target.uid, "resourceVersion": target.version}
    return {key: value for key, value in found.items() if value}


def _options(target: Target) -> Body:
    options: Body = {"apiVersion": "v1", "kind": "DeleteOptions"}
    identity = _identity(target)
    return options | ({"preconditions": identity} if identity else {})


def _decoded(path: str, content: bytes) -> Body:
    try:
        body: Body = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ClusterError(f"{path}: the answer is not JSON: {error}") from error
    return body


async def lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """All whole lines, without their ends; what follows the last line end is dropped.

    A line may span many chunks: its parts are joined once.
    """
    parts: list[bytes] = []
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        if ended:
            ended[0] = b"".join([*parts, ended[0]])
            parts.clear()
            for line in ended:
                if line:
                    yield line
        if rest:
            parts.append(rest)
