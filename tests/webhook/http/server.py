"""A server with short limits, and clients that behave as badly as they like."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.runtime.http.limits import ServerLimits
from fourleaf.k8s_bridge.runtime.http.listener import Listener
from fourleaf.webhook.http.app import application
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.state import State
from fourleaf.webhook.tls.certificate import Certificate
from fourleaf.webhook.tls.issue import Authority, issued, new_authority
from tests.webhook.made import pod, review

LIMITS = ServerLimits(
    body=2**20, head=8 * 2**10, request=1.5, handshake=3.0, drain=5.0, connections=16
)
GOOD = json.dumps(review(pod())).encode()


@dataclass(frozen=True)
class Running:
    """A server at work, and whom to trust to talk to it."""

    port: int
    state: State
    metrics: WebhookMetrics
    certificate: Certificate
    authority: Authority
    listener: Listener

    def trust(self) -> ssl.SSLContext:
        """The context of a client that verifies the server."""
        return trusting(self.authority.certificate)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection by TLS."""
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=self.trust())

    async def ask(self, body: bytes = GOOD, path: str = "/validate", **headers: str) -> Answer:
        """One request on a connection of its own."""
        return await self.send(request(body, path, **headers))

    async def send(self, *parts: bytes) -> Answer:
        """The answer to bytes on a connection of their own."""
        reader, writer = await self.connect()
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
            return await answer_of(reader)
        finally:
            writer.transport.abort()

    async def serves(self) -> bool:
        """Whether a good review is answered."""
        answer = await self.ask()
        return answer.code == 200 and answer.document["response"]["allowed"] is True


@dataclass(frozen=True)
class Answer:
    """Status and document; 0 where the connection was closed without an answer."""

    code: int
    document: Any = None


def trusting(bundle: bytes) -> ssl.SSLContext:
    """The context of a client that trusts `bundle` (PEM) alone, and takes RFC 5280 by its word."""
    context = ssl.create_default_context(cadata=bundle.decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


def request(body: bytes, path: str = "/validate", method: str = "POST", **headers: str) -> bytes:
    """A request, whose length and type are right unless `headers` say otherwise."""
    given = {"host": "x", "content-type": "application/json", "content-length": str(len(body))}
    given.update({key.replace("_", "-"): value for key, value in headers.items()})
    head = "".join(f"{key}: {value}\r\n" for key, value in given.items() if value)
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


async def answer_of(reader: asyncio.StreamReader) -> Answer:
    """The next answer of the server."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        return Answer(0)
    lines = head.decode().split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    content = await reader.readexactly(int(fields["content-length"]))
    return Answer(int(lines[0].split()[1]), json.loads(content))


@asynccontextmanager
async def running(limits: ServerLimits = LIMITS) -> AsyncIterator[Running]:
    """A server on a free port, with a certificate for 127.0.0.1."""
    clock = SystemClock()
    metrics, state = WebhookMetrics(), State()
    certificate = Certificate(clock, metrics)
    authority = new_authority(clock.wall(), 3600)
    assert certificate.offer(issued(authority, ["127.0.0.1"], clock.wall(), 3600))
    listener = Listener(
        application(state, metrics, limits), "127.0.0.1", 0, certificate.context, limits
    )
    async with listener:
        yield Running(listener.port, state, metrics, certificate, authority, listener)
