"""A dashboard over a cluster in memory, in a thread of its own, for browsers and HTTP clients."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack
from typing import Any, Self, TypeVar

from fourleaf.dashboard.serve import DashboardOptions, serving
from fourleaf.dashboard.sources.live_cluster import LiveSource
from fourleaf.dashboard.sources.source import ClusterSource
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.runtime.clock import SystemClock

T = TypeVar("T")


class Served:
    """A running dashboard. With a `source` it shows that, else what is put into `cluster`."""

    def __init__(
        self, source: ClusterSource | None = None, options: DashboardOptions | None = None
    ) -> None:
        self._source = source
        self._options = options or DashboardOptions(port=0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()
        self.cluster = MemoryCluster()
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self.do(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self.do(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` comes to, done beside the dashboard."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(60)

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers (names in lower case) and text of a GET; redirects are not followed."""
        request = urllib.request.Request(self.url + path, headers=_spelt(headers))  # noqa: S310
        return self._asked(request)

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, str], str]:
        """Likewise of a POST of JSON, or of bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"content-type": "application/json"} | _spelt(headers)
        return self._asked(urllib.request.Request(self.url + path, data, given))  # noqa: S310

    def _asked(self, request: urllib.request.Request) -> tuple[int, dict[str, str], str]:
        try:
            with _OPENER.open(request, timeout=60) as answer:
                return answer.status, _lower(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _lower(error.headers), error.read().decode()

    async def _open(self) -> None:
        clock = SystemClock()
        source = self._source
        if source is None:
            live = LiveSource("a cluster in memory", self.cluster, clock)
            await self._stack.enter_async_context(live)
            await live.synced()
            source = live
        server = await self._stack.enter_async_context(serving(source, clock, self._options))
        self.port = server.port


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nobody."""
        return


_OPENER = urllib.request.build_opener(_NoRedirects)


def _spelt(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
