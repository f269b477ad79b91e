"""The application: reviews in, answers out."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import structlog
from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from fourleaf.k8s_bridge.runtime.http.failure import failure
from fourleaf.k8s_bridge.runtime.http.limits import LIMITS, ServerLimits
from fourleaf.webhook.decide import AdmissionDecision, Route, decide
from fourleaf.webhook.http.body import RequestBodies, TooLarge, TooMuch, address_of
from fourleaf.webhook.http.fair_queue import FairQueue
from fourleaf.webhook.http.probes import add_probes
from fourleaf.webhook.http.replies import new_application, reply
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.review import AdmissionRequest as Review
from fourleaf.webhook.review import Malformed, decoded
from fourleaf.webhook.state import State

JSON = "application/json"
CAUSES_LOGGED = 8

_log = structlog.get_logger(__name__)


def application(state: State, metrics: WebhookMetrics, limits: ServerLimits = LIMITS) -> FastAPI:
    """The doors of the webhook, and its probes."""
    served = new_application()
    add_probes(served, state)
    bodies, queue = RequestBodies(limits), FairQueue()
    for door in Route:
        served.add_api_route(
            door.value,
            _handler(door, state, metrics, bodies, queue),
            methods=["POST"],
            response_model=None,
        )
    return served


def _handler(
    door: Route, state: State, metrics: WebhookMetrics, bodies: RequestBodies, queue: FairQueue
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        started = time.perf_counter()
        result, response = await _answered(request, door, state, bodies, queue)
        metrics.answered(door.value, result, time.perf_counter() - started)
        return response

    return handle


async def _answered(
    request: Request, door: Route, state: State, bodies: RequestBodies, queue: FairQueue
) -> tuple[str, Response]:
    """What a request came to, and the response to it."""
    if state.lacking:
        why = f"not ready: {', '.join(sorted(state.lacking))}"
        return "failed", reply(failure(503, "ServiceUnavailable", why), 503, last=True)
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != JSON:
        why = f"content type {content_type[:100]!r} is not {JSON}"
        document = failure(415, "UnsupportedMediaType", why)
        return "malformed", reply(document, 415, last=True)
    try:
        async with (
            bodies.of(request) as body,
            queue.passed(body, address_of(request)) as is_dear,
        ):
            if is_dear and await request.is_disconnected():
                raise ClientDisconnect
            review = decoded(body)
            decision = decide(review, door, state.settings)
    except (TooLarge, TooMuch, ClientDisconnect, Malformed) as error:
        return _unread(error)
    except Exception:  # noqa: BLE001 - a fault of ours is answered and logged, not a crash
        _log.exception("failed", path=door.value)
        document = failure(500, "InternalError", "the webhook failed; its log says why")
        return "failed", reply(document, 500)
    _tell(review, door, decision)
    return decision.result, reply(decision.answer, last=state.draining)


def _unread(error: Exception) -> tuple[str, Response]:
    """The response to a request that holds no review."""
    match error:
        case TooLarge():
            code, reason, why = 413, "RequestEntityTooLarge", "the body is too long"
        case TooMuch():
            code, reason, why = 503, "ServiceUnavailable", "too many long bodies at once"
        case Malformed():
            return "malformed", reply(failure(400, "BadRequest", f"{error}. {error.advice}"), 400)
        case _:
            code, reason, why = 400, "BadRequest", "the rest of the body never came"
    result = "failed" if code == 503 else "malformed"
    return result, reply(failure(code, reason, why), code, last=True)


def _tell(review: Review, door: Route, decision: AdmissionDecision) -> None:
    if decision.result not in ("refused", "malformed"):
        return
    _log.info(
        decision.result,
        path=door.value,
        uid=review.uid,
        namespace=review.namespace,
        name=review.name,
        user=review.user_info.username,
        fields=[one.field for one in decision.problems[:CAUSES_LOGGED]],
    )
