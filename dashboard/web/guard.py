"""What every request has to pass, and the headers that every answer carries."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote, urlsplit

import orjson
from starlette.requests import cookie_parser

from fourleaf.dashboard.web.access import COOKIE, Access
from fourleaf.dashboard.web.wrong_tokens import WrongTokens

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY_BYTES = 1024 * 1024
"""Bytes of a request's body."""
OPEN = ("/healthz", "/readyz", "/login", "/static/")
"""What may be asked for without a secret."""
SLOWER = "Ask again in a second, with the right token."
LOOPBACK = ("localhost", "127.0.0.1", "::1")

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Stands before `app`. Only requests for `names` are answered, for any where that is None."""

    def __init__(
        self,
        app: App,
        access: Access,
        names: frozenset[str] | None,
        wrong_tokens: WrongTokens,
    ) -> None:
        self._app = app
        self._access = access
        self._names = names
        self._wrong_tokens = wrong_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let through."""
        if scope["type"] != "http":
            return
        headers = _merged(scope["headers"])
        path = scope["path"]
        guarded = _with_headers(send, path)
        if self._names is not None and _host(headers.get("host", "")) not in self._names:
            advice = "Ask for localhost, or start the dashboard with --host and that name."
            await _refuse(guarded, 421, "is no name of this dashboard", advice)
            return
        if why := _body_trouble(scope["method"], headers):
            await _refuse(guarded, *why)
            return
        writes = scope["method"] not in ("GET", "HEAD")
        if (not _is_own(headers)) if writes else _is_embedded(headers):
            advice = "Send it from a page of the dashboard itself, or without a browser."
            await _refuse(guarded, 403, "comes from another site", advice)
            return
        peer = (scope.get("client") or ("", 0))[0]
        user = self._access.user(peer, headers, _cookie(headers), time.time())
        if user is None and not path.startswith(OPEN):
            await self._turn_away(scope, headers, guarded, peer)
            return
        scope["fourleaf.user"] = user
        scope["fourleaf.still"] = lambda: (
            self._access.user(peer, headers, _cookie(headers), time.time()) is not None
        )
        scope["fourleaf.session"] = self._access.asks and user is not None
        await self._app(scope, receive, guarded)

    async def show_nobody(self, path: str) -> None:
        """Let a GET of `path` be answered, so that all is loaded that an answer needs."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "query_string": b"",
            "headers": [(b"accept-encoding", b"gzip")],
            "client": ("127.0.0.1", 0),
        }

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.disconnect"}

        async def send(_: MutableMapping[str, Any]) -> None:
            return

        await self._app(scope, receive, send)

    async def _turn_away(
        self, scope: Scope, headers: Mapping[str, str], send: Send, peer: str
    ) -> None:
        wants_page = "text/html" in headers.get("accept", "") and scope["method"] == "GET"
        if self._access.asks and wants_page and not scope["path"].startswith("/api/"):
            query = scope["query_string"].decode("latin-1")
            where = scope["path"] + (f"?{query}" if query else "")
            await _answer(send, 303, b"", {"location": f"/login?next={quote(where, safe='')}"})
            return
        guessed = self._access.asks and "authorization" in headers
        if guessed and not await self._wrong_tokens.answer_late(peer):
            await _refuse(send, 429, "comes with a wrong token, like many others", SLOWER)
            return
        advice = "Send the token as `Authorization: Bearer`, or come through the proxy."
        more = {"www-authenticate": "Bearer"} if self._access.asks else {}
        await _refuse(send, 401, "is not known to us", advice, more)


def _with_headers(send: Send, path: str) -> Send:
    store = "no-cache" if path.startswith("/static/") else "no-store"

    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", ())}
            more = {**_HEADERS, "cache-control": store}
            added = [
                (name.encode(), value.encode())
                for name, value in more.items()
                if name.encode() not in present
            ]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return guarded


def _merged(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by name in lower case; of one that stands twice neither value counts.

    Cookies are the exception: browsers send them in as many headers as they like.
    """
    headers: dict[str, str] = {}
    for key, value in pairs:
        name, text = key.decode("latin-1").lower(), value.decode("latin-1")
        if name not in headers:
            headers[name] = text
        else:
            headers[name] = f"{headers[name]}; {text}" if name == "cookie" else ""
    return headers


def _host(header: str) -> str:
    """The name in a Host header, without the port."""
    return _split(f"//{header}")[0] if "/" not in header else ""


def _split(url: str) -> tuple[str, str]:
    """Host name and netloc of a URL, both empty where it is none."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.netloc
    except ValueError:
        return "", ""


def _body_trouble(method: str, headers: Mapping[str, str]) -> tuple[int, str, str] | None:
    if method in ("GET", "HEAD"):
        return None
    length = headers.get("content-length")
    if length is None:
        return 411, "does not say how long it is", "Send a Content-Length."
    if not length.isdecimal() or int(length) > MOST_BODY_BYTES:
        return 413, "is too long", f"Send at most {MOST_BODY_BYTES // 2**20} MiB."
    return None


def _is_own(headers: Mapping[str, str]) -> bool:
    """Whether a write-like request comes from our own pages, or from no browser at all."""
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    if site is None and origin is None:
        return True
    if site is not None:
        return site in ("same-origin", "none")
    where = _split(origin or "")[1]
    return bool(where) and where == headers.get("host", "")


def _is_embedded(headers: Mapping[str, str]) -> bool:
    """Whether a page of another site asks: for a picture, a script, a frame, by fetch.

    A link that a user follows to us is none of these.
    """
    if headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return False
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) != (
        "navigate",
        "document",
    )


def _cookie(headers: Mapping[str, str]) -> str:
    # Cookies of other ports of this host come along; one that is malformed must not hide ours.
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


async def _refuse(
    send: Send, code: int, message: str, advice: str, more: Mapping[str, str] | None = None
) -> None:
    said = f"The request {message}."
    document = {"kind": "Refusal", "message": said, "advice": advice, "problems": []}
    headers = {"content-type": "application/json", "connection": "close", **(more or {})}
    await _answer(send, code, orjson.dumps(document), headers)


async def _answer(send: Send, code: int, body: bytes, headers: Mapping[str, str]) -> None:
    sent = [(name.encode(), value.encode()) for name, value in headers.items()]
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": code, "headers": [*sent, length]})
    await send({"type": "http.response.body", "body": body})
