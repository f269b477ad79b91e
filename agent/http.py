"""The HTTP servers of an agent: probes and metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import Response

from fourleaf.k8s_bridge.runtime.http.pages import (
    Address,
    Handler,
    PageServer,
    json_page,
    metrics_page,
)

STALE_SECONDS = 180.0
"""Seconds without a round after which the agent counts as dead: no wait of its is that long."""


@dataclass(frozen=True, slots=True)
class AgentHealth:
    """How the agent is: the seconds since its last round, and whether one was finished."""

    beat_age: Callable[[], float]
    ready: Callable[[], bool]

    def probes(self) -> dict[str, Handler]:
        """`/healthz` and `/readyz`."""
        return {"/healthz": self._alive, "/readyz": self._finished}

    async def _alive(self, _: Request) -> Response:
        age = self.beat_age()
        alive = age <= STALE_SECONDS
        return json_page({"alive": alive, "beatAgeSeconds": round(age, 3)}, 200 if alive else 503)

    async def _finished(self, _: Request) -> Response:
        ready = self.ready()
        return json_page({"ready": ready}, 200 if ready else 503)


class AgentServer(PageServer):
    """Serves `/metrics` and the probes while its context is open."""

    def __init__(
        self,
        health: AgentHealth,
        registry: CollectorRegistry,
        address: Address,
        refresh: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._refresh = refresh
        super().__init__({**health.probes(), "/metrics": self._metrics}, address)

    async def _metrics(self, request: Request) -> Response:
        self._refresh()
        return metrics_page(self._registry, request)
