"""News for pages that are open: one sender, many readers, none of which can hold up another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

MOST = 256
"""Readers at once."""
BEHIND = 64
"""Messages that a reader may lag behind; beyond that it is told to load everything anew."""
RESYNC = b"event: resync\ndata: {}\n\n"
BEAT = b": beat\n\n"
EVERY = 15.0
"""Seconds after which a reader to whom nothing was sent gets a beat, so that proxies stay."""


def _always() -> bool:
    return True


class FullError(Exception):
    """Too many pages are open."""


class Hub:
    """Passes on server-sent events, ready as bytes."""

    def __init__(self) -> None:
        self._readers: set[asyncio.Queue[bytes | None]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._readers)

    def send(self, message: bytes) -> None:
        """Pass `message` on to every reader."""
        for reader in self._readers:
            if reader.qsize() < BEHIND:
                reader.put_nowait(message)
            else:
                while not reader.empty():
                    reader.get_nowait()
                reader.put_nowait(RESYNC)

    def close(self) -> None:
        """Let every reader end."""
        self._closed = True
        for reader in self._readers:
            reader.put_nowait(None)

    def join(self) -> asyncio.Queue[bytes | None]:
        """Become a reader, to be handed to `read`. Raises `FullError`."""
        if len(self._readers) >= MOST:
            raise FullError(f"{MOST} pages are open already")
        reader: asyncio.Queue[bytes | None] = asyncio.Queue()
        if self._closed:
            reader.put_nowait(None)
        self._readers.add(reader)
        return reader

    async def read(
        self, reader: asyncio.Queue[bytes | None], still: Callable[[], bool] = _always
    ) -> AsyncIterator[bytes]:
        """Whatever is sent from when it joined, until the hub closes or the reader goes.

        `still` says before each message whether the reader may read on.
        """
        try:
            while True:
                try:
                    message = await asyncio.wait_for(reader.get(), EVERY)
                except TimeoutError:
                    message = BEAT
                if message is None or not still():
                    return
                yield message
        finally:
            self._readers.discard(reader)
