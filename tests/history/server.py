"""A plain connection to an apiserver: lists, and watches line by line, by the standard library."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

Body = dict[str, Any]
TIMEOUT = 30.0
"""Seconds that a list may take."""

WATCH = 20
"""Seconds that a watch lasts; it is then asked for again, which also finds dead connections."""


class Refused(Exception):
    """The server answered with a failure; `code` is the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects and the resource version of their list."""

    items: tuple[Body, ...]
    revision: int


class Watch:
    """Events as they come, until the server or `cut` ends them. To be closed, or a context."""

    def __init__(
        self, connection: http.client.HTTPSConnection, answer: http.client.HTTPResponse
    ) -> None:
        self._connection = connection
        self._answer = answer
        # Once the answer has begun, the connection may not know its socket any more.
        self._socket = connection.sock

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self._answer.close()
        self._connection.close()

    def __iter__(self) -> Iterator[tuple[str, Body]]:
        """Yield (type, object). Raises `Refused`, `OSError`, `HTTPException`."""
        while line := self._answer.readline():
            event = json.loads(line)
            if event["type"] == "ERROR":
                said = event["object"]
                raise Refused(int(said.get("code", 500)), said.get("message", ""))
            yield event["type"], event["object"]

    def cut(self) -> None:
        """End it from another thread."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Server:
    """An apiserver and who asks it; connections are made anew for each request."""

    host: str
    port: int
    token: str
    authority: str

    @classmethod
    def of(cls, kubeconfig: Path) -> Server:
        """Read a kubeconfig file with a bearer token. Raises `KeyError` where it has none."""
        content = yaml.safe_load(kubeconfig.read_text())
        cluster = content["clusters"][0]["cluster"]
        url = urlsplit(cluster["server"])
        token = content["users"][0]["user"]["token"]
        return cls(
            url.hostname or "", url.port or 443, token, cluster.get("certificate-authority", "")
        )

    def list(self, path: str) -> Listing:
        """List a collection by a quorum read. Raises `Refused`, `OSError`, `HTTPException`."""
        with closing(self._connect(TIMEOUT)) as connection:
            answer = self._ask(connection, path)
            content = json.loads(answer.read())
        return Listing(
            tuple(content.get("items") or ()), int(content["metadata"]["resourceVersion"])
        )

    def watch(self, path: str, revision: int) -> Watch:
        """Watch what happens to a collection after `revision`.

        Raises `Refused` (410 where `revision` is too old), `OSError`, `HTTPException`.
        """
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": str(revision),
            "timeoutSeconds": str(WATCH),
        }
        connection = self._connect(2 * WATCH)
        try:
            return Watch(connection, self._ask(connection, f"{path}?{urlencode(query)}"))
        except BaseException:
            connection.close()
            raise

    def _connect(self, timeout: float) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=self.authority or None)
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=context)

    def _ask(self, connection: http.client.HTTPSConnection, path: str) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        if answer.status >= 300:
            raise Refused(answer.status, answer.read(500).decode(errors="replace"))
        return answer
