"""HTTP to the apiserver: one session, errors by whether anything was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Throttled
from fourleaf.k8s_bridge.cluster.live.answers import error_of
from fourleaf.k8s_bridge.cluster.live.credentials import Credentials

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
"""Any JSON is YAML, and goes by this name to servers of every age."""
USER_AGENT = "fourleaf"
CONNECT_SECONDS = 10.0
"""Seconds to get a connection."""

ANSWER_SECONDS = 60.0
"""Seconds for an answer: what the apiserver gives itself for one."""

WATCH_SILENCE_SECONDS = 150.0
"""Seconds without a byte after which a watch counts as dead: a bookmark comes each minute."""

_NOTHING_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_NO_ANSWER = (aiohttp.ClientError, TimeoutError, OSError)
_READ_BUFFER = 2**20


class Transport:
    """Sends requests and counts them. `connections` is how many are open at once, watches too."""

    def __init__(self, credentials: Credentials, connections: int, traffic: Traffic) -> None:
        self._credentials = credentials
        self._traffic = traffic
        self._host = credentials.host
        self._server_name = credentials.server_name
        self._proxy = credentials.proxy
        tls = credentials.tls() if self._host.startswith("https") else False
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, ssl=tls, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "identity", "User-Agent": USER_AGENT},
            timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS, connect=CONNECT_SECONDS),
            read_bufsize=_READ_BUFFER,
        )
        # aiohttp repeats a PUT or DELETE whose connection broke; if the first one was done, the
        # second fails its precondition and would be taken for another client's write
        self._session._retry_connection = False

    async def request(
        self,
        verb: str,
        kind: str,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Send one request; the body of the answer. Raises `ClusterError`."""
        what = f"{verb} {path}"
        try:
            async with await self._send(method, path, body, content_type) as answer:
                content = await answer.read()
        except _NOTHING_SENT as error:
            self._traffic.count(verb, kind, 0)
            raise _unsent(what, error) from error
        except _NO_ANSWER as error:
            self._traffic.count(verb, kind, 0)
            raise _unanswered(what, error) from error
        self._traffic.received += len(content)
        self._traffic.count(verb, kind, answer.status)
        if answer.status >= 300:
            raise await self._refusal(what, answer, content)
        return content

    def stream(self, verb: str, kind: str, path: str) -> Stream:
        """Open a request whose answer comes bit by bit."""
        return Stream(self, verb, kind, path)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = JSON,
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> aiohttp.ClientResponse:
        headers = {"Accept": JSON}
        if body is not None:
            headers["Content-Type"] = content_type
        authorization = await self._credentials.authorization()
        if authorization:
            headers["Authorization"] = authorization
        self._traffic.sent += len(body or b"")
        return await self._session.request(
            method,
            URL(self._host + path, encoded=True),
            data=body,
            headers=headers,
            allow_redirects=False,
            proxy=self._proxy,
            server_hostname=self._server_name,
            timeout=timeout or self._session.timeout,
        )

    async def _refusal(
        self, what: str, answer: aiohttp.ClientResponse, content: bytes
    ) -> ClusterError:
        if answer.status == 401:
            await self._credentials.reload()
        return error_of(what, answer.status, answer.headers, content)


class Stream:
    """An open answer, as a context: its chunks until it ends, for whatever reason."""

    def __init__(self, transport: Transport, verb: str, kind: str, path: str) -> None:
        self._transport = transport
        self._verb, self._kind, self._path = verb, kind, path
        self._answer: aiohttp.ClientResponse | None = None

    async def __aenter__(self) -> AsyncIterator[bytes]:
        transport, what = self._transport, f"{self._verb} {self._path}"
        traffic = transport._traffic
        timeout = aiohttp.ClientTimeout(
            total=None, connect=CONNECT_SECONDS, sock_read=WATCH_SILENCE_SECONDS
        )
        try:
            self._answer = await transport._send("GET", self._path, timeout=timeout)
            traffic.count(self._verb, self._kind, self._answer.status)
            if self._answer.status >= 300:
                content = await self._answer.read()
                raise await transport._refusal(what, self._answer, content)
        except _NOTHING_SENT as error:
            traffic.count(self._verb, self._kind, 0)
            raise _unsent(what, error) from error
        except _NO_ANSWER as error:
            traffic.count(self._verb, self._kind, 0)
            raise _unanswered(what, error) from error
        return self._chunks(self._answer)

    async def __aexit__(self, *_: object) -> None:
        if self._answer is not None:
            connection = self._answer.connection
            if connection is not None and connection.protocol is not None:
                # a close would wait for the server's goodbye, which comes after its events
                connection.protocol.abort()
            self._answer.close()

    async def _chunks(self, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in answer.content.iter_any():
                self._transport._traffic.received += len(chunk)
                yield chunk
        except _NO_ANSWER:
            # a watch that breaks has ended: its reader goes on from the last version
            return


def _unsent(what: str, error: Exception) -> Throttled:
    return Throttled(f"{what}: no connection, nothing was sent: {_error_text(error)}")


def _unanswered(what: str, error: Exception) -> Ambiguous:
    return Ambiguous(f"{what}: sent, but not answered: {_error_text(error)}")


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__} {error}".strip()


@dataclass(slots=True)
class Traffic:
    """Requests by (verb, plural of the kind with its subresource, HTTP status or 0), and bytes.

    Status 0 counts requests without an answer. Bytes are those of bodies: `sent`, `received`.
    """

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    sent: int = 0
    received: int = 0

    def count(self, verb: str, kind: str, status: int) -> None:
        """Count one request."""
        self.requests[verb, kind, status] += 1
