"""Requests to an API server by path: objects go in and come out as plain dictionaries."""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kubernetes import client, config

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
TIMEOUT = 30.0
"""Seconds that a request may take."""


class ApiError(Exception):
    """The server refused. `status` is the HTTP status, `reason` the API's own, if it gave one."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason


class Api:
    """A connection as whoever a kubeconfig file says. To be closed, or used as a context."""

    def __init__(self, kubeconfig: Path) -> None:
        settings = client.Configuration()
        # A test wants to see each refusal, not what a retry made of it.
        settings.retries = False
        self._client = config.new_client_from_config(
            str(kubeconfig), persist_config=False, client_configuration=settings
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> dict[str, Any]:
        """Send one request, such as `GET /api/v1/nodes`, and return the answer.

        Raises `ApiError` for a refusal and what urllib3 raises where nobody answers.
        """
        headers = {"Content-Type": content_type, "Accept": accept, **self._client.default_headers}
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
        answer = self._client.rest_client.request(
            method,
            self._client.configuration.host + path,
            headers=headers,
            body=body,
            _request_timeout=TIMEOUT,
        )
        return answer_of(answer.status, answer.read())

    def get(self, path: str) -> dict[str, Any]:
        """Read an object or a list. Raises `ApiError`."""
        return self.request("GET", path)

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create `body` in the collection at `path`. Raises `ApiError`."""
        return self.request("POST", path, body)

    def patch(self, path: str, body: Any, content_type: str = MERGE_PATCH) -> dict[str, Any]:
        """Change an object. Raises `ApiError`."""
        return self.request("PATCH", path, body, content_type)

    def delete(self, path: str) -> dict[str, Any]:
        """Delete an object or a collection. Raises `ApiError`."""
        return self.request("DELETE", path)

    def new_namespace(self) -> str:
        """Make a namespace and tell its name, which is new. Raises `ApiError`."""
        made = self.create("/api/v1/namespaces", {"metadata": {"generateName": "fourleaf-test-"}})
        return str(made["metadata"]["name"])

    def bind(self, pod: str, node: str) -> None:
        """Bind the pod at a path to a node, as a scheduler does. Raises `ApiError`."""
        name = pod.rpartition("/")[2]
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}}
        self.create(f"{pod}/binding", {**body, "target": target})


def answer_of(status: int, content: bytes) -> dict[str, Any]:
    """Decode an answer. Raises `ApiError` where it is a refusal."""
    try:
        answer = json.loads(content) if content else {}
    except ValueError:
        answer = {"message": content.decode(errors="replace")}
    if status >= 400:
        raise ApiError(status, answer.get("reason", ""), answer.get("message", ""))
    return answer


def healthy(port: int, path: str, token: str | None = None, timeout: float = 2.0) -> bool:
    """Whether a program on 127.0.0.1 answers `path` with 200 within `timeout` seconds."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Some programs make a certificate of their own; all that is asked is whether they live.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
