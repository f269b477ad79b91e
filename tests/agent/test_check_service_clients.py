"""The check service under clients that hold it up: probes are answered all the same."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from fourleaf.agent import check_service
from fourleaf.agent.check_service import CONNECTIONS, HEAD_BYTES, Answers, Beat, Seen, listening

PROBE = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
HALF = PROBE[:-2] + b"x: "
SHORT = 0.5
"""Seconds for a request in these tests."""


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[int]:
    """A service that is healthy; its port."""
    beat = Beat(10.0)
    beat.mark(time.monotonic())
    with listening(0) as bound:
        work = asyncio.create_task(Answers(Seen("n1", "p", "0"), beat).serve(bound))
        try:
            yield bound.getsockname()[1]
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work


async def connected(
    port: int, data: bytes, source: str = "127.0.0.1"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection from `source` on which `data` was sent."""
    pair = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    pair[1].write(data)
    return pair


async def answer(port: int, data: bytes = PROBE, source: str = "127.0.0.1") -> bytes:
    """All that comes back, b"" where the connection is cut off."""
    reader, writer = await connected(port, data, source)
    try:
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


async def test_a_client_that_goes_on_sending_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast its bytes come: the whole request has so many seconds."""
    monkeypatch.setattr(check_service, "REQUEST_SECONDS", SHORT)
    async with running() as port:
        reader, writer = await connected(port, HALF)

        async def drip() -> None:
            while True:
                writer.write(b"y")
                await asyncio.sleep(SHORT / 10)

        dripping = asyncio.create_task(drip())
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(10 * SHORT):
                assert await reader.read() == b""
        assert time.monotonic() - began >= SHORT / 2
        dripping.cancel()
        writer.transport.abort()
        assert (await answer(port)).endswith(b"ok\n")


async def test_a_long_head_is_refused() -> None:
    """With 431, as soon as it is too long, though it has no end."""
    async with running() as port:
        assert (await answer(port, HALF + b"y" * 2 * HEAD_BYTES)).startswith(b"HTTP/1.1 431 ")
        assert (await answer(port)).endswith(b"ok\n")


@pytest.mark.parametrize("data", [b"POST / HTTP/1.1\r\n\r\n", b"\0\r\n\r\n", b"GET /\r\n\r\n"])
async def test_what_is_no_get_is_refused(data: bytes) -> None:
    """With 400."""
    async with running() as port:
        assert (await answer(port, data)).startswith(b"HTTP/1.1 400 ")


async def test_two_thousand_connections_keep_no_probe_waiting() -> None:
    """Those that had to make room are closed, and a probe is answered at once meanwhile."""
    async with running() as port:
        held = []
        for _ in range(20):
            more = (connected(port, HALF) for _ in range(100))
            held += await asyncio.gather(*more)
            began = time.monotonic()
            assert (await answer(port)).endswith(b"ok\n")
            assert time.monotonic() - began < check_service.REQUEST_SECONDS / 2
        still = [pair for pair in held if pair[0].exception() is None and not pair[0].at_eof()]
        assert len(still) <= CONNECTIONS
        for _, writer in held:
            writer.transport.abort()


async def test_who_holds_most_makes_room() -> None:
    """A slow client at another address keeps its older connection."""
    async with running() as port:
        reader, writer = await connected(port, HALF, "127.0.0.2")
        pairs = [await connected(port, HALF) for _ in range(2 * CONNECTIONS)]
        assert (await answer(port)).endswith(b"ok\n")
        writer.write(b"y\r\n\r\n")
        assert (await reader.read()).endswith(b"ok\n")
        for _, other in (*pairs, (reader, writer)):
            other.transport.abort()
