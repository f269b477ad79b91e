"""Probes and metrics over HTTP."""

from __future__ import annotations

from typing import Any

import aiohttp

from fourleaf.agent.http import STALE_SECONDS, AgentHealth, AgentServer
from fourleaf.agent.metrics import AgentMetrics
from fourleaf.k8s_bridge.runtime.http.pages import Address
from tests.agent.made import reading
from tests.twins.virtual_clock import VirtualClock


async def ask(server: AgentServer, path: str) -> tuple[int, str]:
    """Status and text of an answer."""
    url = f"http://127.0.0.1:{server.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


async def test_probes_and_metrics() -> None:
    """Alive while rounds end, ready after the first that was published; metrics when asked."""
    state: dict[str, Any] = {"age": 1.0, "ready": False}
    metrics = AgentMetrics(VirtualClock())
    metrics.read(reading())

    def refresh() -> None:
        metrics.requests({("apply", "gpunodestatuses", 200): 3})

    server = AgentServer(
        AgentHealth(lambda: state["age"], lambda: state["ready"]),
        metrics.registry,
        Address("127.0.0.1", 0),
        refresh,
    )
    async with server:
        assert await ask(server, "/healthz") == (200, '{"alive":true,"beatAgeSeconds":1.0}')
        assert await ask(server, "/readyz") == (503, '{"ready":false}')
        state.update(age=STALE_SECONDS + 1, ready=True)
        assert (await ask(server, "/healthz"))[0] == 503
        assert await ask(server, "/readyz") == (200, '{"ready":true}')
        status, text = await ask(server, "/metrics")
        assert status == 200
        assert 'fourleaf_agent_devices{health="healthy"} 2.0' in text
        call = '{kind="gpunodestatuses",status="200",verb="apply"} 3.0'
        assert f"fourleaf_agent_api_requests_total{call}" in text
        await ask(server, "/metrics")
        assert call in (await ask(server, "/metrics"))[1]
