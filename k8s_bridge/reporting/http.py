"""The HTTP servers of the scheduler: probes, metrics, and its state for the commands.

It shows names of gangs, nodes and reasons, never the content of any object. Bind it to
127.0.0.1 unless the network between is trusted.
"""

from __future__ import annotations

from typing import Protocol

from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import Response

from fourleaf.k8s_bridge.reporting.cycle_history import CyclesSource, cycles_document
from fourleaf.k8s_bridge.reporting.status import StatusSource, status_document
from fourleaf.k8s_bridge.runtime.http.pages import (
    Address,
    Handler,
    PageServer,
    json_page,
    metrics_page,
)


class StateSource(StatusSource, CyclesSource, Protocol):
    """A source of the scheduler's state, and of what it has done."""


STALE_SECONDS = 60.0
"""Seconds without a beat after which the loop counts as dead."""


class ProbeServer(PageServer):
    """Serves `/healthz` and `/readyz` alone, in its context: a port that others cannot crowd."""

    def __init__(
        self, source: StatusSource, address: Address, stale_after: float = STALE_SECONDS
    ) -> None:
        super().__init__(_probes(source, stale_after), address)


class StateServer(PageServer):
    """Serves `/metrics`, `/status`, `/cycles` and the probes, in its context."""

    def __init__(
        self,
        source: StateSource,
        registry: CollectorRegistry,
        address: Address | None = None,
        stale_after: float = STALE_SECONDS,
    ) -> None:
        self._source = source
        self._registry = registry
        routes = {
            **_probes(source, stale_after),
            "/metrics": self._metrics,
            "/status": self._status,
            "/cycles": self._cycles,
        }
        super().__init__(routes, address or Address())

    async def _metrics(self, request: Request) -> Response:
        return metrics_page(self._registry, request)

    async def _status(self, _: Request) -> Response:
        return json_page(status_document(self._source.status()))

    async def _cycles(self, _: Request) -> Response:
        status = self._source.status()
        return json_page(cycles_document(status.identity, status.leader, self._source.cycles()))


def _probes(source: StatusSource, stale_after: float) -> dict[str, Handler]:
    async def alive(_: Request) -> Response:
        age = source.status().beat_age
        beats = age <= stale_after
        return json_page({"alive": beats, "beatAgeSeconds": round(age, 3)}, 200 if beats else 503)

    async def ready(_: Request) -> Response:
        """Whether the caches are complete; a standby that could take over is ready too."""
        status = source.status()
        complete = not status.unsynced
        said = {"ready": complete, "leader": status.leader, "unsynced": list(status.unsynced)}
        return json_page(said, 200 if complete else 503)

    return {"/healthz": alive, "/readyz": ready}
