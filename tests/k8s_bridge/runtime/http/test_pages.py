"""Page servers under clients that hold connections: others are answered all the same."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from fourleaf.k8s_bridge.runtime.http.bounded_protocol import MOST_PIPELINED
from fourleaf.k8s_bridge.runtime.http.limits import ServerLimits
from fourleaf.k8s_bridge.runtime.http.pages import Address, PageServer, json_page

LIMITS = ServerLimits(head=2048, request=0.5, drain=0.5, connections=8)
HALF = b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: "
WHOLE = b"GET %b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def alive(_: Request) -> Response:
    """A page."""
    return json_page({"alive": True})


async def lasting(_: Request) -> Response:
    """An answer that lasts three times as long as a request may take."""

    async def parts() -> object:
        for _ in range(6):
            await asyncio.sleep(LIMITS.request / 2)
            yield b"."

    return StreamingResponse(parts())


async def long(_: Request) -> Response:
    """More than what the system keeps for a client that does not read."""
    return Response(b"x" * 64 * 2**20)


def serving(limits: ServerLimits = LIMITS) -> PageServer:
    """A server of all three."""
    pages = {"/healthz": alive, "/lasting": lasting, "/long": long}
    return PageServer(pages, Address(port=0), limits)


async def connected(server: PageServer, data: bytes) -> Pair:
    """A connection on which `data` was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(data)
    await writer.drain()
    return reader, writer


async def answered(server: PageServer, path: bytes = b"/healthz") -> bytes:
    """The whole answer to a request."""
    reader, writer = await connected(server, WHOLE % path)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


async def test_half_sent_heads_keep_no_probe_waiting() -> None:
    """As many as the server may have, and probes pass: each takes the place of the oldest."""
    async with serving(replace(LIMITS, request=30.0)) as server:
        held = [await connected(server, HALF) for _ in range(LIMITS.connections)]
        for _ in range(3):
            assert (await answered(server)).startswith(b"HTTP/1.1 200")
        ended = await asyncio.wait_for(asyncio.gather(*(one.read() for one, _ in held[:1])), 5)
        assert ended == [b""]
        for _, writer in held:
            writer.transport.abort()


async def test_a_head_that_does_not_end_is_cut_off() -> None:
    """By its length, or by its time."""
    async with serving() as server:
        reader, long_one = await connected(server, HALF + b"y" * 4096)
        assert (await reader.readline()).startswith(b"HTTP/1.1 431")
        reader, slow_one = await connected(server, HALF)
        assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 408")
        for writer in (long_one, slow_one):
            writer.transport.abort()


@pytest.mark.parametrize("behind", [b"a: b\r\n" * 1000, b"a: " + b"b" * 6000])
async def test_what_follows_a_body_in_chunks_is_cut_off(behind: bytes) -> None:
    """By its length, whatever time is left, in many lines or in one that does not end.

    The answer has been given before: no page reads a body.
    """
    head = b"GET /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    async with serving(replace(LIMITS, request=30.0)) as server:
        reader, writer = await connected(server, head + b"0\r\n" + behind)
        answer = await asyncio.wait_for(reader.read(), 5)
        assert b"HTTP/1.1 431" in answer
        assert b"around the body" in answer
        writer.transport.abort()


async def test_a_body_in_small_chunks_is_no_trouble() -> None:
    """Bytes one by one take six times their number, more in all than a head may."""
    head = b"GET /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    async with serving() as server:
        reader, writer = await connected(server, head + b"1\r\nx\r\n" * 1000 + b"0\r\n\r\n")
        writer.write(WHOLE % b"/healthz")
        answer = await asyncio.wait_for(reader.read(), 5)
        assert answer.count(b"HTTP/1.1 200") == 2
        writer.transport.abort()


async def test_who_waits_for_no_answer_gets_few() -> None:
    """A thousand requests in one piece: hundreds of thousands once kept the loop for seconds."""
    one = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
    async with serving() as server:
        reader, writer = await connected(server, one * 10)
        for _ in range(10):
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200")
        writer.transport.abort()
        reader, writer = await connected(server, one * 1000)
        answer = await asyncio.wait_for(reader.read(), 5)
        assert answer.count(b"HTTP/1.1 200") <= MOST_PIPELINED + 1
        writer.transport.abort()


async def test_answers_that_may_last() -> None:
    """They go on where the server says so, and end with the time of a request elsewhere."""
    async with serving(replace(LIMITS, streams=True)) as server:
        assert (await answered(server, b"/lasting")).count(b".") >= 6
    async with serving() as server:
        assert (await answered(server, b"/lasting")).count(b"\r\n.\r\n") < 6


async def test_a_client_that_takes_nothing_is_left() -> None:
    """The system ends its connection, and what was kept for it is free."""
    async with serving(replace(LIMITS, streams=True, unread=0.5)) as server:
        reader, writer = await connected(server, WHOLE % b"/long")
        reader._transport.pause_reading()
        async with asyncio.timeout(20):
            while server.server_state.connections:
                await asyncio.sleep(0.05)
        writer.transport.abort()
