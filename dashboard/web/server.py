"""The HTTP server, which leaves signals to the program around it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Generator
from typing import Self

import uvicorn

from fourleaf.dashboard.web.guard import App

MOST_CONNECTIONS = 512
SHUTDOWN_SECONDS = 2
"""Seconds that requests may still take once the server stops."""


class DashboardServer(uvicorn.Server):
    """Serves `app` at `host:port` while its context is open. `port` 0 takes any that is free.

    Opening raises `OSError` where the address cannot be had. `leaving` is called first of all
    when it closes, so that answers without end find theirs.
    """

    def __init__(self, app: App, host: str, port: int, leaving: Callable[[], None]) -> None:
        # uvicorn tells of every connection at INFO and of every bad request at WARNING.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._where = host, port
        self._leaving = leaving
        self._socket: socket.socket | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port that it listens on, 0 while it does not."""
        return int(self._socket.getsockname()[1]) if self._socket else 0

    @property
    def idle(self) -> bool:
        """Whether no connection is open, as every page holds one that follows the cluster."""
        return not self.server_state.connections

    async def __aenter__(self) -> Self:
        host, port = self._where
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=256)
        # Connections inherit it. Else what follows the head of an answer waits 40 ms for an
        # acknowledgement: asyncio sees to that for sockets alone that name their protocol.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._work = asyncio.create_task(self.serve([self._socket]))
        while not self.started and not self._work.done():
            await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leaving()
        self.should_exit = True
        if self._work is not None:
            await self._work
        if self._socket is not None:
            self._socket.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone."""
        yield
