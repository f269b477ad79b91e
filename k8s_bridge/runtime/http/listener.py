"""A uvicorn server with bounds, which leaves signals to the program around it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
from collections.abc import Generator
from typing import Any, Self

import uvicorn

from fourleaf.k8s_bridge.runtime.http.bounded_protocol import BoundedProtocol
from fourleaf.k8s_bridge.runtime.http.limits import LIMITS, ServerLimits
from fourleaf.k8s_bridge.runtime.http.tls_server import TlsServer, listening_at

App = Any
"""An ASGI application."""


class AddressTaken(OSError):
    """The address `where` cannot be had."""

    def __init__(self, error: OSError, where: str) -> None:
        code = error.errno or 0
        super().__init__(code, os.strerror(code))
        self.where = where


class Listener(uvicorn.Server):
    """Serves `app` at `host:port` while its context is open; then lets requests finish.

    With `context`, by TLS. `port` 0 takes any that is free. Opening raises `AddressTaken`
    where the address cannot be had.
    """

    def __init__(
        self,
        app: App,
        host: str,
        port: int,
        context: ssl.SSLContext | None = None,
        limits: ServerLimits = LIMITS,
    ) -> None:
        # uvicorn tells of every connection at INFO and of every bad request at WARNING.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                date_header=False,
                timeout_keep_alive=int(limits.idle),
                timeout_graceful_shutdown=int(limits.drain),
            )
        )
        self._host, self._port = host, port
        self._context = context
        self._limits = limits
        self._work: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @property
    def port(self) -> int:
        """The port that it listens on, 0 while it does not."""
        bound = [one for server in getattr(self, "servers", ()) for one in server.sockets]
        return int(bound[0].getsockname()[1]) if bound else 0

    @property
    def where(self) -> str:
        """The address that it was given."""
        return f"{self._host}:{self._port}"

    async def __aenter__(self) -> Self:
        self.config.load()
        await self._listen()
        self._work = asyncio.create_task(self._serve())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        if self._work is not None:
            await self._work

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        """Do nothing: it listens already."""
        self.started = True

    async def main_loop(self) -> None:
        """Wait for the end, without ten looks a second."""
        await self._stop.wait()

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()

        def connection() -> BoundedProtocol:
            return BoundedProtocol(self.config, self.server_state, self._limits)

        backlog = self.config.backlog
        server: Any
        try:
            if self._context is None:
                server = await loop.create_server(
                    connection, self._host, self._port, backlog=backlog
                )
            else:
                sockets = await listening_at(self._host, self._port, backlog)
                server = TlsServer(sockets, connection, self._context, self._limits)
        except OSError as error:
            raise AddressTaken(error, self.where) from error
        self.servers = [server]
