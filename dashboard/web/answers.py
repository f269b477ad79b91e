"""What goes wrong, as answers: JSON for the API, a page for people."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from fourleaf.dashboard.event_stream import FullError
from fourleaf.dashboard.solver_pool import BusyError
from fourleaf.dashboard.web.templates import Drawing
from fourleaf.model.problems import BadInput, Problem, shown

T = TypeVar("T")
MOST_PROBLEMS = 50
"""Problems that are told."""


class Missing(Exception):
    """There is no such object now. `what` names it."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what)
        self.what, self.advice = what, advice


def there(found: T | None, missing: Missing) -> T:
    """What was found; raises `missing` where that is nothing."""
    if found is None:
        raise missing
    return found


def refusal(message: str, advice: str, problems: tuple[Problem, ...] = ()) -> dict[str, Any]:
    """What is said of a request that cannot be answered."""
    return {
        "kind": "Refusal",
        "message": message,
        "advice": advice,
        "problems": [
            {
                "object": one.object,
                "field": one.field,
                "value": one.value,
                "message": one.message,
                "advice": one.advice,
            }
            for one in problems[:MOST_PROBLEMS]
        ],
    }


def add_answers(application: FastAPI, drawing: Drawing) -> None:
    """Let `application` say what is wrong, in one form everywhere."""

    def answer(request: Request, code: int, document: dict[str, Any]) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse(document, code)
        part = "part" in request.query_params or request.method == "POST"
        name = "parts/refusal.html" if part else "refusal.html"
        return HTMLResponse(drawing.drawn(name, request, code=code, refusal=document), code)

    async def bad_input(request: Request, error: Exception) -> Response:
        problems = error.problems if isinstance(error, BadInput) else ()
        errors = tuple(one for one in problems if one.is_error) or problems
        first = errors[0] if errors else None
        advice = first.advice if first else ""
        return answer(request, 422, refusal("That cannot be read.", advice, errors))

    async def invalid(request: Request, error: Exception) -> Response:
        found = error.errors() if isinstance(error, RequestValidationError) else ()
        advice = "Keep to the schema at /api/v1/openapi.json."
        document = refusal("That is not what is asked for.", advice)
        document["problems"] = [
            {
                "object": "",
                "field": ".".join(map(str, one["loc"])),
                "value": shown(one.get("input", "")),
                "message": one["msg"],
                "advice": "",
            }
            for one in found[:MOST_PROBLEMS]
        ]
        return answer(request, 422, document)

    async def missing(request: Request, error: Exception) -> Response:
        what = error.what if isinstance(error, Missing) else ""
        advice = error.advice if isinstance(error, Missing) else ""
        return answer(request, 404, refusal(f"There is no {what}.", advice))

    async def busy(request: Request, error: Exception) -> Response:
        response = answer(request, 503, refusal(f"Busy: {error}.", "Try again in a moment."))
        response.headers["retry-after"] = "5"
        return response

    async def other(request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 500
        what = "That way of asking is not known here" if code == 405 else "There is nothing here"
        return answer(request, code, refusal(f"{what}.", "Start at the overview, /."))

    application.add_exception_handler(BadInput, bad_input)
    application.add_exception_handler(RequestValidationError, invalid)
    application.add_exception_handler(Missing, missing)
    application.add_exception_handler(BusyError, busy)
    application.add_exception_handler(FullError, busy)
    application.add_exception_handler(HTTPException, other)
