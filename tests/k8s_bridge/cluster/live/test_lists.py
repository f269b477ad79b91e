"""Lists in pages, watches in lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Gone
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.live import LiveCluster
from fourleaf.k8s_bridge.cluster.live.client import lines
from fourleaf.k8s_bridge.cluster.protocol import WatchEvent
from tests.k8s_bridge.cluster.live.server import CUT, Server, answer, serving, status


def _page(*names: str, more: str = "", version: str = "9") -> bytes:
    metadata = {"resourceVersion": version} | ({"continue": more} if more else {})
    return answer(200, {"metadata": metadata, "items": [{"metadata": {"name": n}} for n in names]})


def _stream(*events: dict[str, Any], end: bytes = CUT) -> bytes:
    content = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content + end


async def _watch(cluster: LiveCluster, kind: Kind = PODS) -> list[WatchEvent]:
    async with aclosing(cluster.watch(kind, "5", labels="a in (b)")) as events:  # type: ignore[type-var]
        return [event async for event in events if event.type != "OPENED"]


def _asked(server: Server) -> list[str]:
    return [request.partition("?")[2] for request in server.requests]


@pytest.mark.parametrize("kind", [PODS, CONFIG_MAPS], ids=str)
async def test_pages(tmp_path: Path, kind: Kind) -> None:
    """Pages are asked for one after the other, and come back as one list of one version."""
    pages = (_page("a", "b", more="t+1"), _page("c", more="t2"), _page())
    async with serving(tmp_path, *pages) as (cluster, server):
        listing = await cluster.list(kind, "ns", "x=y")
    assert [item["metadata"]["name"] for item in listing.items] == ["a", "b", "c"]
    assert listing.version == "9"
    assert _asked(server) == [
        "labelSelector=x%3Dy&limit=2500",
        "labelSelector=x%3Dy&limit=2500&continue=t%2B1",
        "labelSelector=x%3Dy&limit=2500&continue=t2",
    ]


async def test_pages_that_grow_too_old(tmp_path: Path) -> None:
    """A list whose first version is forgotten half way starts again, in one piece."""
    answers = (_page("old", more="t1"), status(410, "Expired"), _page("a", "b", version="12"))
    async with serving(tmp_path, *answers) as (cluster, server):
        listing = await cluster.list(PODS)
    assert [item["metadata"]["name"] for item in listing.items] == ["a", "b"]
    assert listing.version == "12"
    assert _asked(server)[-1] == ""


async def test_cached_list(tmp_path: Path) -> None:
    """A list that may be old asks for whatever version there is, in one piece."""
    async with serving(tmp_path, _page("a")) as (cluster, server):
        await cluster.list(PODS, cached=True)
    assert _asked(server) == ["resourceVersion=0"]


async def test_watch(tmp_path: Path) -> None:
    """A watch asks for bookmarks and an end, and its events come as they are sent."""
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "resourceVersion": "6"}}
    mark = {"kind": "Pod", "metadata": {"resourceVersion": "8"}, "spec": {"containers": None}}
    sent = ({"type": "ADDED", "object": pod}, {"type": "BOOKMARK", "object": mark})
    async with serving(tmp_path, _stream(*sent)) as (cluster, server):
        added, bookmark = await _watch(cluster)
    assert added == WatchEvent("ADDED", {"metadata": {"name": "p", "resourceVersion": "6"}})
    assert (bookmark.type, bookmark.object["metadata"]) == ("BOOKMARK", {"resourceVersion": "8"})
    asked = dict(part.split("=") for part in _asked(server)[0].split("&"))
    assert 300 <= int(asked.pop("timeoutSeconds")) <= 600
    assert asked == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "5",
        "labelSelector": "a+in+%28b%29",
    }


async def test_watch_that_breaks_off(tmp_path: Path) -> None:
    """A watch whose connection breaks ends: whole events count, half a line does not."""
    pod = {"metadata": {"name": "p"}}
    half = b'{"type": "ADDED", "obj'
    sent = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"
    sent += json.dumps({"type": "ADDED", "object": pod}).encode() + b"\n" + half + CUT
    async with serving(tmp_path, sent) as (cluster, _):
        (event,) = await _watch(cluster)
    assert event.object == pod


@pytest.mark.parametrize(("code", "kind"), [(410, Gone), (500, Ambiguous)])
@pytest.mark.parametrize("of", [PODS, NODES, CONFIG_MAPS], ids=str)
async def test_error_in_a_watch(
    tmp_path: Path, code: int, kind: type[ClusterError], of: Kind
) -> None:
    """An event of type ERROR is the error that its code stands for."""
    said = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "too old resource version: 204 (209)",
        "reason": "Expired",
        "code": code,
    }
    async with serving(tmp_path, _stream({"type": "ERROR", "object": said})) as (cluster, _):
        with pytest.raises(kind, match="too old"):
            await _watch(cluster, of)


async def test_watch_refused(tmp_path: Path) -> None:
    """A watch can be gone before it starts."""
    async with serving(tmp_path, status(410, "Expired")) as (cluster, _):
        with pytest.raises(Gone):
            await _watch(cluster)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
async def test_lines_from_chunks(size: int) -> None:
    """However bytes are cut into chunks, the same lines come out, but for an open last one."""
    text = b"one\n\ntwo two\nthree\nopen"

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(text), size):
            yield text[start : start + size]

    assert [line async for line in lines(chunks())] == [b"one", b"two two", b"three"]


async def test_traffic(tmp_path: Path) -> None:
    """Requests are counted by verb, kind and status, and the bytes of bodies both ways."""
    listed, refused = _page("a"), status(404, "NotFound")
    async with serving(tmp_path, listed, refused) as (cluster, _):
        await cluster.list(PODS)
        with pytest.raises(ClusterError):
            await cluster.create(CONFIG_MAPS, "ns", {"data": {}})
    assert cluster.traffic.requests == {
        ("list", "pods", 200): 1,
        ("create", "configmaps", 404): 1,
    }
    bodies = [said.partition(b"\r\n\r\n")[2] for said in (listed, refused)]
    assert cluster.traffic.received == sum(map(len, bodies))
    assert cluster.traffic.sent == len(b'{"apiVersion":"v1","kind":"ConfigMap","data":{}}')
