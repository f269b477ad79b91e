"""Requests of the benchmark itself: many at a time, cheap, and timed."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
import orjson

from benchmarks.throughput.load import NAMESPACE

AT_ONCE = 64
"""Requests under way at a time."""

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
GROUPS = f"/apis/scheduling.k8s.io/v1alpha2/namespaces/{NAMESPACE}/podgroups"
_BUFFER = 2**20
_ANSWERED = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.M)
_LABEL = re.compile(r'(\w+)="([^"]*)"')

Item = TypeVar("Item")


class RequestError(RuntimeError):
    """The API refused what the benchmark asked."""


class Caller:
    """A session as whoever a kubeconfig file says, as a context."""

    def __init__(self, kubeconfig: Path) -> None:
        content = json.loads(kubeconfig.read_text())
        cluster = content["clusters"][0]["cluster"]
        self._host = cluster["server"]
        self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._token = content["users"][0]["user"]["token"]

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=2 * AT_ONCE, ssl=self._tls),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "fourleaf-benchmark",
            },
            timeout=aiohttp.ClientTimeout(total=None, sock_read=120),
            read_bufsize=_BUFFER,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request; what the API answers. Raises `RequestError`."""
        content = None if body is None else orjson.dumps(body)
        async with self._session.request(method, self._host + path, data=content) as answer:
            got = await answer.read()
        if answer.status >= 300:
            raise RequestError(f"{method} {path}: {answer.status} {got[:300].decode()}")
        return orjson.loads(got)

    async def text(self, path: str) -> str:
        """What the API server answers to a read, as it is."""
        async with self._session.get(self._host + path) as answer:
            return await answer.text()

    async def answered(self) -> Counter[str]:
        """Requests that the API server has answered so far, as `VERB resource/subresource`.

        Whoever sent them; a watch counts when it ends.
        """
        text = await self.text("/metrics")
        found: Counter[str] = Counter()
        for labels, value in _ANSWERED.findall(text):
            named = dict(_LABEL.findall(labels))
            what = "/".join(filter(None, (named["resource"], named["subresource"])))
            if what:
                found[f"{named['verb']} {what}"] += int(float(value))
        return found

    async def pods_after(self, version: str) -> AsyncIterator[dict[str, Any]]:
        """Each event of the benchmark's pods after `version`, for as long as it is read."""
        path = f"{self._host}{PODS}?watch=true&resourceVersion={version}&timeoutSeconds=3600"
        async with self._session.get(path) as answer:
            rest = b""
            async for chunk in answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield orjson.loads(line)


async def together(
    items: Iterable[Item], work: Callable[[Item], Awaitable[None]], at_once: int = AT_ONCE
) -> None:
    """Do `work` for all `items` in their order, so many at a time. Raises the first error."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(at_once):
                tasks.create_task(worker())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


class Bindings:
    """When each pod was seen bound, as a watch of the benchmark's own tells. A context.

    `on_bound` is told the name of each.
    """

    def __init__(self, caller: Caller, on_bound: Callable[[str], None] | None = None) -> None:
        self.at: dict[str, float] = {}
        self._on_bound = on_bound
        self.changed = asyncio.Event()
        self._caller = caller

    async def __aenter__(self) -> Self:
        listed = await self._caller.request("GET", f"{PODS}?limit=1")
        self._task = asyncio.create_task(self._follow(listed["metadata"]["resourceVersion"]))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def all_of(self, count: int, patience: float) -> bool:
        """Wait until `count` pods are bound; False once none was for `patience` seconds."""
        while len(self.at) < count:
            if self._task.done():
                self._task.result()
                raise RequestError("the watch of the benchmark ended")
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), patience)
            except TimeoutError:
                return False
        return True

    async def _follow(self, version: str) -> None:
        # The API server drops a watcher that is slow for a moment; it goes on where it was.
        while True:
            async for event in self._caller.pods_after(version):
                metadata, spec = event["object"]["metadata"], event["object"].get("spec", {})
                if event["type"] == "ERROR":
                    raise RequestError(f"the watch of the benchmark: {event['object']}")
                version = metadata["resourceVersion"]
                if spec.get("nodeName") and metadata["name"] not in self.at:
                    self.at[metadata["name"]] = time.perf_counter()
                    if self._on_bound is not None:
                        self._on_bound(metadata["name"])
                    self.changed.set()
