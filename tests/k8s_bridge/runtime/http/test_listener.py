"""How the server ends: what has begun is finished, and nothing new begins."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl

import aiohttp
import pytest

from fourleaf.k8s_bridge.runtime.http.listener import Listener
from fourleaf.webhook.http.probes import side_application
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.state import State
from tests.webhook.http.server import GOOD, answer_of, request, running


async def test_what_has_begun_is_finished() -> None:
    """Half of a review is there when the end is called; its other half is still taken."""
    async with running() as server:
        idle, _ = await server.connect()
        reader, writer = await server.connect()
        whole = request(GOOD)
        writer.write(whole[:-20])
        await asyncio.sleep(0.1)
        ending = asyncio.create_task(server.listener.__aexit__(None, None, None))
        await asyncio.sleep(0.2)
        assert not ending.done()
        assert await idle.read() == b""
        with pytest.raises((ConnectionError, ssl.SSLError)):
            await server.connect()
        writer.write(whole[-20:])
        answer = await answer_of(reader)
        assert answer.code == 200
        assert await reader.read() == b""
        await ending


async def test_readiness_ends_before_the_server() -> None:
    """While it drains, reviews are answered and clients are sent elsewhere."""
    async with running() as server:
        server.state.draining = True
        assert (await server.send(request(b"", "/readyz", "GET"))).code == 503
        assert (await server.send(request(b"", "/healthz", "GET"))).code == 200
        reader, writer = await server.connect()
        writer.write(request(GOOD))
        assert (await answer_of(reader)).code == 200
        assert await reader.read() == b""


async def test_before_it_knows_enough_it_answers_nothing() -> None:
    """Without the config, nobody knows whose pods are ours: 503, which policy decides on."""
    async with running() as server:
        server.state.lacking.add("config")
        answer = await server.ask()
        assert (answer.code, answer.document["message"]) == (503, "not ready: config")
        server.state.lacking.clear()
        assert await server.serves()


async def test_a_taken_port_is_said() -> None:
    """The error of the system, for the command to put into words."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listener = Listener(side_application(State(), WebhookMetrics()), *taken.getsockname())
        with pytest.raises(OSError, match="in use"):
            await listener.__aenter__()


async def test_metrics_and_probes_on_a_port_of_their_own() -> None:
    """Plain HTTP, and nothing else there."""
    state, metrics = State(stale={"certificate"}), WebhookMetrics(("/validate",))
    metrics.answered("/validate", "refused", 0.002)
    async with (
        Listener(side_application(state, metrics), "127.0.0.1", 0) as listener,
        aiohttp.ClientSession(f"http://127.0.0.1:{listener.port}") as session,
    ):
        async with session.get("/metrics") as answer:
            text = await answer.text()
            refused = 'fourleaf_webhook_requests_total{path="/validate",result="refused"} 1.0'
            assert refused in text
            assert "fourleaf_webhook_certificate_reload_failures_total 0.0" in text
        async with session.get("/readyz") as answer:
            said = json.loads(await answer.text())
            assert (answer.status, said["missing"]) == (503, ["certificate"])
        async with session.post("/validate") as answer:
            assert answer.status == 404
