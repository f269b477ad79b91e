"""Replies in JSON."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from fourleaf.k8s_bridge.runtime.http.failure import failure

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def reply(document: dict[str, Any], code: int = 200, last: bool = False) -> Response:
    """`document` as JSON; with `last`, the connection is closed after it."""
    headers = {**_HEADERS, "Connection": "close"} if last else _HEADERS
    return Response(orjson.dumps(document), code, headers, "application/json")


def new_application() -> FastAPI:
    """An application without documentation pages, which answers what has no route by a `Status`."""
    application = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    async def no_route(_: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 500
        reason = {404: "NotFound", 405: "MethodNotAllowed"}.get(code, "BadRequest")
        return reply(failure(code, reason, "there is nothing here by that path and method"), code)

    application.add_exception_handler(HTTPException, no_route)
    return application
