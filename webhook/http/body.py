"""The bodies of requests, counted as they arrive: each of them, and all that are held at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request

from fourleaf.k8s_bridge.runtime.http.limits import ServerLimits

USUAL_BODY_BYTES = 64 * 2**10
"""Bytes that every request may hold; a review of a pod has a few KiB. More is shared by all."""


class TooLarge(Exception):
    """The body is longer than what is read of any."""


class TooMuch(Exception):
    """All bodies together are longer than what is held at once."""


class RequestBodies:
    """Reads bodies within limits.

    What one address holds of long bodies is at most what it leaves to the others: half of all where
    it is alone, a third where there are two that would have all.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._shared: Counter[str] = Counter()

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[bytes]:
        """The body of `request`, held until the context ends.

        What it says of its own length is believed only where that is too long. Raises `TooLarge`,
        `TooMuch`, and `ClientDisconnect` where the rest never came.
        """
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and (len(stated) > 18 or int(stated) > self._limits.body):
            raise TooLarge
        address = address_of(request)
        parts: list[bytes] = []
        size = shared = 0
        try:
            async for part in request.stream():
                size += len(part)
                if size > self._limits.body:
                    raise TooLarge
                more = max(0, size - USUAL_BODY_BYTES) - shared
                if self._shared[address] + self._shared.total() + 2 * more > self._limits.held:
                    raise TooMuch
                shared += more
                self._shared[address] += more
                parts.append(part)
            yield b"".join(parts)
        finally:
            self._shared[address] -= shared
            if not self._shared[address]:
                del self._shared[address]


def address_of(request: Request) -> str:
    """The address of the client, "" where it is not known."""
    return request.client.host if request.client else ""
