"""The HTTP server of the scheduler: probes, metrics, and its state for the commands.

It shows names of gangs, nodes and reasons, never the content of any object. Bind it to
127.0.0.1 unless the network between is trusted.
"""

from __future__ import annotations

from typing import Protocol

from aiohttp import web
from prometheus_client import CollectorRegistry

from fourleaf.k8s_bridge.reporting.cycle_history import CyclesSource, cycles_document
from fourleaf.k8s_bridge.reporting.status import StatusSource, status_document
from fourleaf.k8s_bridge.runtime.http_server import Address, PlainServer, json_page, metrics_page


class StateSource(StatusSource, CyclesSource, Protocol):
    """A source of the scheduler's state, and of what it has done."""


class StateServer(PlainServer):
    """Serves `/healthz`, `/readyz`, `/metrics`, `/status` and `/cycles`, in its context.

    The loop counts as dead when it has not beaten for `stale_after` seconds.
    """

    def __init__(
        self,
        source: StateSource,
        registry: CollectorRegistry,
        address: Address | None = None,
        stale_after: float = 60.0,
    ) -> None:
        self._source = source
        self._registry = registry
        self._stale_after = stale_after
        routes = {
            "/healthz": self._health,
            "/readyz": self._ready,
            "/metrics": self._metrics,
            "/status": self._status,
            "/cycles": self._cycles,
        }
        super().__init__(routes, address or Address())

    async def _health(self, _: web.Request) -> web.Response:
        age = self._source.status().beat_age
        alive = age <= self._stale_after
        return json_page({"alive": alive, "beatAgeSeconds": round(age, 3)}, 200 if alive else 503)

    async def _ready(self, _: web.Request) -> web.Response:
        """Whether the caches are complete; a standby that could take over is ready too."""
        status = self._source.status()
        ready = not status.unsynced
        said = {"ready": ready, "leader": status.leader, "unsynced": list(status.unsynced)}
        return json_page(said, 200 if ready else 503)

    async def _metrics(self, request: web.Request) -> web.Response:
        return metrics_page(self._registry, request)

    async def _status(self, _: web.Request) -> web.Response:
        return json_page(status_document(self._source.status()))

    async def _cycles(self, _: web.Request) -> web.Response:
        status = self._source.status()
        return json_page(cycles_document(status.identity, status.leader, self._source.cycles()))
