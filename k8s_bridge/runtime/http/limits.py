"""Limits: how much and how long a client may talk to the server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds of one server; bytes and seconds.

    `body`: an update carries an object twice, and the API server takes objects of 3 MiB. `held`
    is for all long bodies at once. `request` is for one whole request, from its first byte to
    the end of its answer, and for the first byte after the handshake; with `streams`, answers
    may last, and it ends with the last byte of the request. `unread` is for a client that does
    not take what it is sent. `idle` is longer than clients of Go keep connections (90 s), so
    that they close them first. `drain` is how long requests may still run once the server stops.
    """

    body: int = 7 * 2**20
    held: int = 64 * 2**20
    head: int = 32 * 2**10
    request: float = 10.0
    streams: bool = False
    unread: float = 30.0
    handshake: float = 5.0
    idle: float = 120.0
    drain: float = 10.0
    connections: int = 512


LIMITS = ServerLimits()
