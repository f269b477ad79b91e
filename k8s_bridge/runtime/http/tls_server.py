"""A server by TLS whose handshakes are bounded too, in number and time, by address.

Servers of an event loop bound the time of a handshake alone, and a connection is one of theirs only
once that is over: a client that never ends them could hold as many as there are files to open.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.runtime.http.crowding import makes_room
from fourleaf.k8s_bridge.runtime.http.limits import ServerLimits

SHUTDOWN_SECONDS = 2.0
"""Seconds for the goodbye of TLS."""
NO_FILES_SECONDS = 0.1
"""Seconds until a connection is accepted again where that failed, as for want of files."""

Factory = Callable[[], asyncio.Protocol]


@dataclass(eq=False, slots=True)
class Handshake:
    """A connection before its first byte of HTTP; see `crowding.Connection`."""

    address: str
    opened: float
    is_idle: bool = False
    is_arriving: bool = True
    work: asyncio.Task[None] = field(init=False)


class TlsServer:
    """Accepts connections of `sockets`; after its handshake, each is a protocol of `factory`.

    As many handshakes may be under way as connections: a client in good order may open all at once.
    It listens until `close`, and has what uvicorn calls of an `asyncio.Server`.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        factory: Factory,
        context: ssl.SSLContext,
        limits: ServerLimits,
    ) -> None:
        self.sockets = sockets
        self.handshakes: set[Handshake] = set()
        self._factory, self._context, self._limits = factory, context, limits
        self._accepting = [asyncio.create_task(self._accept(one)) for one in sockets]

    def close(self) -> None:
        """Accept nothing more, free the addresses, and give up handshakes."""
        for task in (*self._accepting, *(one.work for one in self.handshakes)):
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until nothing is accepted any more."""
        await asyncio.gather(*self._accepting, return_exceptions=True)
        self.sockets = ()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with listening:
            while True:
                try:
                    connected, peer = await loop.sock_accept(listening)
                except OSError:
                    await asyncio.sleep(NO_FILES_SECONDS)
                    continue
                self._begin(connected, Handshake(str(peer[0]), loop.time()))
                # Where many wait, none of them is waited for: others have their turn here.
                await asyncio.sleep(0)

    def _begin(self, connected: socket.socket, handshake: Handshake) -> None:
        if len(self.handshakes) >= self._limits.connections:
            leaving = makes_room(self.handshakes)
            if leaving is not None:
                self.handshakes.discard(leaving)
                leaving.work.cancel()
        handshake.work = asyncio.create_task(self._shake(connected, handshake))
        self.handshakes.add(handshake)

    async def _shake(self, connected: socket.socket, handshake: Handshake) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._factory,
                connected,
                ssl=self._context,
                ssl_handshake_timeout=self._limits.handshake,
                ssl_shutdown_timeout=SHUTDOWN_SECONDS,
            )
        except OSError:
            # It went, took too long, or speaks no TLS: no answer can be given.
            pass
        finally:
            self.handshakes.discard(handshake)


async def listening_at(host: str, port: int, backlog: int) -> list[socket.socket]:
    """Sockets that listen at each address of `host`; `OSError` where one cannot be had."""
    loop = asyncio.get_running_loop()
    # The event loop knows best which addresses and options a server has.
    bound = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    try:
        sockets = [socket.socket(fileno=os.dup(one.fileno())) for one in bound.sockets]
    finally:
        bound.close()
    for one in sockets:
        one.setblocking(False)
        one.listen(backlog)
    return sockets
