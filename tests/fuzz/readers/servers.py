"""Raw bytes at the HTTP servers, through the protocol of each and the application behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry
from uvicorn.server import ServerState

from fourleaf.agent.http import AgentHealth, AgentServer
from fourleaf.dashboard.serve import DashboardOptions, serving
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.runtime.http.bounded_protocol import BoundedProtocol
from fourleaf.k8s_bridge.runtime.http.listener import Listener
from fourleaf.k8s_bridge.runtime.http.pages import Address
from fourleaf.model.readers import Source
from fourleaf.webhook.http.app import application
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.state import State
from tests.fuzz.law import Broken, Reader
from tests.fuzz.seeds import NODES
from tests.model.readers.made import pod
from tests.webhook.made import review

ANSWER_SECONDS = 0.1
"""Seconds after which an answer counts as one that lasts."""

READY_SECONDS = 120.0
"""Seconds in which the dashboard has drawn its first pages, the start of its solver included."""


class Wire(asyncio.Transport):
    """The end of a connection to nowhere, which keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("10.0.0.1", 4711), "sockname": ("127.0.0.1", 8080)})
        self.written = bytearray()
        self._closing = False

    def write(self, data: Any) -> None:
        """Keep it."""
        self.written += data

    def close(self) -> None:
        """Take nothing more."""
        self._closing = True

    abort = close

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self._closing

    def pause_reading(self) -> None:
        """Do nothing: all is there."""

    def resume_reading(self) -> None:
        """Do nothing either."""


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(_broken)
    return loop


def _broken(_: asyncio.AbstractEventLoop, said: dict[str, Any]) -> None:
    _LOST.append(str(said.get("exception") or said.get("message")))


_LOST: list[str] = []
"""Errors of tasks that are not awaited."""


async def _ask(server: Listener, data: bytes) -> bytes:
    wire, state = Wire(), ServerState()
    protocol = BoundedProtocol(server.config, state, server._limits)
    protocol.connection_made(wire)
    for start in range(0, len(data), 2**16):
        protocol.data_received(data[start : start + 2**16])
    if state.tasks:
        await asyncio.wait(state.tasks, timeout=ANSWER_SECONDS)
    written = bytes(wire.written)
    protocol.connection_lost(None)
    tasks = list(state.tasks)
    if tasks:
        await asyncio.wait(tasks, timeout=ANSWER_SECONDS)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return written


def _reader(name: str, made: Callable[[], Awaitable[Listener]], *seeds: bytes) -> Reader:
    @cache
    def server() -> Listener:
        return _loop().run_until_complete(made())

    def asked(data: bytes) -> Iterable[str]:
        server()
        _LOST.clear()
        answer = _loop().run_until_complete(_ask(server(), data))
        if answer and not answer.startswith(b"HTTP/1.1 "):
            raise Broken(f"{name}: an answer that is none: {answer[:100]!r}")
        if answer[9:12] == b"500" or _LOST:
            raise Broken(f"{name}: it failed: {_LOST} {answer[-300:]!r}")
        return ()

    return Reader(name, asked, seeds, json=False)


async def _webhook() -> Listener:
    state = State()
    state.lacking = set()
    server = Listener(application(state, WebhookMetrics()), "127.0.0.1", 0)
    server.config.load()
    return server


async def _pages() -> Listener:
    health = AgentHealth(lambda: 1.0, lambda: True)
    server = AgentServer(health, CollectorRegistry(), Address(port=0), lambda: None)
    server.config.load()
    return server


_STACK = AsyncExitStack()


async def _dashboard() -> Listener:
    text = json.dumps([*NODES, pod("p-0")]).encode()
    source = FileSource("here", [Source("in.json", text)], 1e9)
    server = await _STACK.enter_async_context(
        serving(source, SystemClock(), DashboardOptions(port=0))
    )
    # Until it is ready it draws its first pages beside the answers, which would count as theirs.
    async with asyncio.timeout(READY_SECONDS):
        while b" 200 " not in (await _ask(server, _get("/readyz")))[:20]:
            await asyncio.sleep(ANSWER_SECONDS)
    return server


def _post(path: str, body: bytes, more: bytes = b"") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return head.encode() + more + f"content-length: {len(body)}\r\n\r\n".encode() + body


def _get(path: str) -> bytes:
    head = f"GET {path} HTTP/1.1\r\nhost: localhost:8090\r\naccept: text/html,*/*;q=0.8\r\n"
    return (head + "accept-encoding: gzip\r\ncookie: a=b; fourleaf=x\r\n\r\n").encode()


_REVIEW = json.dumps(review(pod())).encode()
_CHUNKED = (
    b"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    b"transfer-encoding: chunked\r\n\r\n5;a=b\r\n{}   \r\n0\r\n\r\n"
)

READERS = (
    _reader(
        "HTTP of the webhook", _webhook, _post("/validate", _REVIEW), _CHUNKED, _get("/readyz")
    ),
    _reader("HTTP of pages", _pages, _get("/metrics"), _get("/healthz?a=%2e"), _get("/readyz")),
    _reader(
        "HTTP of the dashboard",
        _dashboard,
        _get("/"),
        _get("/api/v1/gang?namespace=ml&name=p-0"),
        _get("/api/v1/node?name=n1"),
        _get("/gang/ml/p-0"),
        _get("/static/main.js"),
        _post("/api/v1/what-if", b'{"manifest":"a: 1","close":["n1"],"weights":{"x":1}}'),
    ),
)
