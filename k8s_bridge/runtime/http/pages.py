"""A small HTTP server that shows things and takes nothing: plain, read only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fourleaf.k8s_bridge.runtime.http.limits import LIMITS, ServerLimits
from fourleaf.k8s_bridge.runtime.http.listener import Listener

Handler = Callable[[Request], Awaitable[Response]]

PAGE_LIMITS = replace(LIMITS, head=8 * 2**10, drain=1.0)
"""Pages are short, and are asked for in a few lines."""

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; `port` 0 takes any that is free."""

    host: str = "127.0.0.1"
    port: int = 8080


class PageServer(Listener):
    """Serves `routes` (path -> handler) while its context is open.

    Opening raises `OSError` where the address cannot be had.
    """

    def __init__(
        self, routes: Mapping[str, Handler], address: Address, limits: ServerLimits = PAGE_LIMITS
    ) -> None:
        served = [Route(path, handler, methods=["GET"]) for path, handler in routes.items()]
        super().__init__(Starlette(routes=served), address.host, address.port, limits=limits)


def json_page(document: dict[str, Any], status: int = 200) -> Response:
    """`document` as JSON."""
    return Response(orjson.dumps(document), status, _HEADERS, "application/json")


def metrics_page(registry: CollectorRegistry, request: Request) -> Response:
    """The metrics of `registry`, in the format that the request asks for."""
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return Response(encode(registry), headers={"Content-Type": content_type, **_HEADERS})
