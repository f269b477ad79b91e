"""`/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from prometheus_client.exposition import choose_encoder

from fourleaf.webhook.http.replies import new_application, reply
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.state import State


def add_probes(application: FastAPI, state: State) -> None:
    """Serve `/healthz` and `/readyz`."""

    async def alive() -> Response:
        return reply({"alive": True})

    async def ready() -> Response:
        missing = sorted(state.lacking | state.stale)
        said = {"ready": state.ready, "draining": state.draining, "missing": missing}
        return reply(said, 200 if state.ready else 503)

    application.add_api_route("/healthz", alive, response_model=None)
    application.add_api_route("/readyz", ready, response_model=None)


def side_application(state: State, metrics: WebhookMetrics) -> FastAPI:
    """Probes and metrics, for a port of their own."""
    application = new_application()
    add_probes(application, state)

    async def exposed(request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(metrics.registry), headers={"Content-Type": content_type})

    application.add_api_route("/metrics", exposed, response_model=None)
    return application
