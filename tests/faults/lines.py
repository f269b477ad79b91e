"""The lines of a watch, between who sends them and who reads them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import aiohttp
from aiohttp import web


async def read_lines(
    answer: aiohttp.ClientResponse, lines: asyncio.Queue[tuple[float, bytes]]
) -> None:
    """Put every line into the queue, however long nobody takes it; an empty one ends it."""
    rest = b""
    try:
        async for chunk in answer.content.iter_any():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                lines.put_nowait((time.monotonic(), line + b"\n"))
    finally:
        lines.put_nowait((time.monotonic(), b""))


async def until_end(
    lines: asyncio.Queue[tuple[float, bytes]], request: web.Request
) -> AsyncIterator[tuple[float, bytes]]:
    """Lines until there are no more, or nobody reads them any more."""
    while request.transport is not None and not request.transport.is_closing():
        try:
            arrived, line = await asyncio.wait_for(lines.get(), 1.0)
        except TimeoutError:
            continue
        if not line:
            return
        yield arrived, line
