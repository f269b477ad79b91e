"""HTTP/1.1 with bounds: uvicorn's protocol, which by itself waits for ever and reads any head."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import orjson
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from fourleaf.k8s_bridge.runtime.http.crowding import makes_room
from fourleaf.k8s_bridge.runtime.http.failure import failure
from fourleaf.k8s_bridge.runtime.http.limits import ServerLimits

LINGER_SECONDS = 0.1
"""Seconds in which a client that has not finished may take its answer before it is cut off.

Until then, what it goes on to send is read and thrown away.
"""

MOST_PIPELINED = 16
"""Requests of one connection that wait for an answer before them; hardly any client sends two."""
FRAMING = 8
"""Bytes around each byte of a body that may be: six, where a chunk is one byte long."""


class TooManyRequests(Exception):
    """A client that sends requests and does not wait for answers: ends the reading of what came."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. Too many, too long a head, too slow: an answer where one can be given."""

    def __init__(self, config: Config, state: ServerState, limits: ServerLimits) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._around = self._body = 0
        """Bytes of the request that comes in: what is no body, and what is."""
        self._in_head = self._in_request = True
        self._accepted = False
        self.opened = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock; where there are too many, another one makes room, or this one goes."""
        if len(self.connections) >= self._limits.connections:
            others = (one for one in self.connections if isinstance(one, BoundedProtocol))
            leaving = makes_room(others)
            if leaving is None:
                transport.abort()
                return
            self.connections.discard(leaving)
            leaving.transport.abort()
        self._accepted = True
        self.opened = self.loop.time()
        _end_if_unread(transport, self._limits.unread)
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._disarm()
        if self._accepted:
            super().connection_lost(exc)

    @property
    def address(self) -> str:
        """The address of the client."""
        return self.client[0] if self.client else ""

    @property
    def is_idle(self) -> bool:
        """Whether it waits for its next request."""
        return self._timer is None and not self._is_answering

    @property
    def is_arriving(self) -> bool:
        """Whether its request has not arrived as a whole."""
        return self._timer is not None and not (self._is_answering and not self.cycle.more_body)

    @property
    def _is_answering(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Take part of a request; the clock starts with its first byte."""
        if not self._accepted or self.transport.is_closing():
            return
        if self._timer is None and not self._is_answering:
            self._arm()
        body = self._body
        super().data_received(data)
        self._around += len(data) - max(0, self._body - body)
        if self._in_request and self._around > self._limits.head + FRAMING * self._body:
            what = "the head" if self._in_head else "what stands around the body"
            self._refuse(431, "RequestHeaderFieldsTooLarge", f"{what} is too long")

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._around = self._body = 0
        self._in_head = self._in_request = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of a head; those that follow a body in chunks count for nothing."""
        if self._in_head:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take part of a body."""
        self._body += len(body)
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """End a head."""
        self._in_head = False
        if len(self.pipeline) >= MOST_PIPELINED:
            raise TooManyRequests
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request; an answer that may last has no clock."""
        self._in_request = False
        super().on_message_complete()
        if self._limits.streams:
            self._disarm()

    def on_response_complete(self) -> None:
        """Stop the clock: from here the connection is idle, or at its next request."""
        self._disarm()
        if self.pipeline:
            self._arm()
        if self.transport.is_closing() and self.cycle.more_body:
            self.loop.call_later(LINGER_SECONDS, self.transport.abort)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(400, "BadRequest", msg)

    def _arm(self) -> None:
        self._timer = self.loop.call_later(self._limits.request, self._too_slow)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        message = f"the request took more than {self._limits.request:g} s to arrive"
        self._refuse(408, "Timeout", message)

    def _refuse(self, code: int, reason: str, message: str) -> None:
        if self.transport.is_closing():
            return
        answering = getattr(self.cycle, "response_started", False)
        if not answering or self.cycle.response_complete:
            self.transport.write(_closing(code, failure(code, reason, message)))
        self.transport.close()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)


def _end_if_unread(transport: asyncio.Transport, seconds: float) -> None:
    """Let the system end a connection whose client takes nothing for that long."""
    connected = transport.get_extra_info("socket")
    if connected is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


def _closing(code: int, document: dict[str, Any]) -> bytes:
    content = orjson.dumps(document)
    phrase = document["reason"]
    head = (
        f"HTTP/1.1 {code} {phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + content
