"""The HTTP server of an agent: probes and metrics."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CollectorRegistry

from fourleaf.k8s_bridge.runtime.http_server import Address, PlainServer, json_page, metrics_page

STALE_SECONDS = 180.0
"""Seconds without a round after which the agent counts as dead: no wait of its is that long."""


class AgentServer(PlainServer):
    """Serves `/healthz`, `/readyz` and `/metrics` while its context is open.

    `beat_age` tells the seconds since the last round, `ready` whether one was finished.
    """

    def __init__(
        self,
        beat_age: Callable[[], float],
        ready: Callable[[], bool],
        registry: CollectorRegistry,
        address: Address,
        refresh: Callable[[], None],
    ) -> None:
        self._beat_age = beat_age
        self._ready = ready
        self._registry = registry
        self._refresh = refresh
        routes = {
            "/healthz": self._health,
            "/readyz": self._readiness,
            "/metrics": self._metrics,
        }
        super().__init__(routes, address)

    async def _health(self, _: web.Request) -> web.Response:
        age = self._beat_age()
        alive = age <= STALE_SECONDS
        return json_page({"alive": alive, "beatAgeSeconds": round(age, 3)}, 200 if alive else 503)

    async def _readiness(self, _: web.Request) -> web.Response:
        ready = self._ready()
        return json_page({"ready": ready}, 200 if ready else 503)

    async def _metrics(self, request: web.Request) -> web.Response:
        self._refresh()
        return metrics_page(self._registry, request)
