"""Logging in with the token, and out."""

from __future__ import annotations

import time
from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from fourleaf.dashboard.web.access import COOKIE, SESSION_SECONDS, Token
from fourleaf.dashboard.web.templates import Drawing
from fourleaf.dashboard.web.wrong_tokens import WrongTokens

MOST_FORM_BYTES = 8192
"""Bytes of the form."""


def login(token: Token, drawing: Drawing, wrong_tokens: WrongTokens) -> APIRouter:
    """The page to log in at, and what it sends."""
    router = APIRouter(include_in_schema=False)

    @router.get("/login")
    async def form(request: Request, next: str = "/") -> HTMLResponse:  # noqa: A002
        return HTMLResponse(drawing.drawn("login.html", request, where=own(next), wrong=False))

    @router.post("/login")
    async def enter(request: Request) -> Response:
        body = await request.body()
        try:
            fields = parse_qs(body[:MOST_FORM_BYTES].decode("utf-8", "replace"), max_num_fields=8)
        except ValueError:
            fields = {}
        where = own(fields.get("next", ["/"])[0])
        session = token.session(fields.get("token", [""])[0].strip(), time.time())
        if session is None:
            in_time = await wrong_tokens.answer_late(request.client.host if request.client else "")
            text = drawing.drawn("login.html", request, where=where, wrong=True)
            return HTMLResponse(text, 403 if in_time else 429)
        response = RedirectResponse(where, 303)
        response.set_cookie(
            COOKIE,
            session,
            SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=_is_secure(request),
        )
        return response

    @router.post("/logout")
    async def leave(request: Request) -> Response:
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=_is_secure(request))
        return response

    return router


def own(where: str) -> str:
    """`where` if it is a path of this site, else the first page."""
    safe = where.startswith("/") and where[1:2] not in ("/", "\\") and where.isprintable()
    return where if safe else "/"


def _is_secure(request: Request) -> bool:
    forwarded = request.headers.get("x-forwarded-proto", "")
    return request.url.scheme == "https" or forwarded == "https"
