"""Probes and metrics of the dashboard, also for a port that readers of pages cannot crowd."""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import Response

from fourleaf.dashboard.readiness import Readiness
from fourleaf.k8s_bridge.runtime.http.pages import Handler, json_page, metrics_page


def probes(readiness: Readiness) -> dict[str, Handler]:
    """`/healthz` and `/readyz`."""

    async def alive(_: Request) -> Response:
        return json_page({"alive": True})

    async def ready(_: Request) -> Response:
        lacking = readiness.lacking
        said = {"ready": not lacking, "unsynced": list(lacking)}
        return json_page(said, 503 if lacking else 200)

    return {"/healthz": alive, "/readyz": ready}


def side_pages(readiness: Readiness, registry: CollectorRegistry) -> dict[str, Handler]:
    """Probes, and the metrics of `registry`."""

    async def metrics(request: Request) -> Response:
        return metrics_page(registry, request)

    return {**probes(readiness), "/metrics": metrics}
