"""News for pages that are open: one sender, many readers, none of which can hold up another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

MOST_READERS = 256
"""Readers at once."""
MOST_BEHIND = 64
"""Messages that a reader may lag behind; beyond that it is told to load everything anew."""
RESYNC = b"event: resync\ndata: {}\n\n"
BEAT = b": beat\n\n"
BEAT_SECONDS = 15.0
"""Seconds after which an idle reader is sent a beat, so that proxies stay."""


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
            if reader.qsize() < MOST_BEHIND:
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

    @property
    def is_full(self) -> bool:
        """Whether no more readers are let in."""
        return len(self._readers) >= MOST_READERS

    def need_room(self) -> None:
        """Raise `FullError` where no more readers are let in."""
        if self.is_full:
            raise FullError(f"{MOST_READERS} pages are open already")

    def join(self) -> asyncio.Queue[bytes | None]:
        """Become a reader, for as long as the hub is there. Raises `FullError`."""
        self.need_room()
        reader: asyncio.Queue[bytes | None] = asyncio.Queue()
        if self._closed:
            reader.put_nowait(None)
        self._readers.add(reader)
        return reader

    async def read(
        self, greeting: Callable[[], bytes], still: Callable[[], bool] = lambda: True
    ) -> AsyncGenerator[bytes]:
        """`greeting`, then whatever is sent, until the hub closes or the reader goes.

        `still` says before each message whether the reader may read on. The place is taken with
        the first step: a reader that leaves before that has none to give back.
        """
        if self.is_full:
            return
        first = greeting()
        reader = self.join()
        try:
            yield first
            while True:
                try:
                    message = await asyncio.wait_for(reader.get(), BEAT_SECONDS)
                except TimeoutError:
                    message = BEAT
                if message is None or not still():
                    return
                yield message
        finally:
            self._readers.discard(reader)
