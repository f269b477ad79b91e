"""The door to a cloud's metadata: one address of the link, bounded in bytes and in time."""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from typing import Protocol

from fourleaf.agent.discovery.sighting import SourceError

ADDRESS = "169.254.169.254"
"""Where every one of these clouds answers; no name is looked up, and no proxy asked."""
MOST_BYTES = 2**16
ANSWER_SECONDS = 2.0
"""Seconds that one answer may take in all."""
_ADVICE = "Let the agent reach it: see agent.discovery.hostNetwork and network policies."


class MetadataDoor(Protocol):
    """Asks the metadata service of a cloud."""

    def ask(self, path: str, headers: Mapping[str, str], method: str = "GET") -> bytes | None:
        """What stands under `path`, None where nothing does (404). Raises `SourceError`."""


class LinkLocalMetadata:
    """Asks over HTTP; redirects are not followed."""

    def __init__(self, address: str = ADDRESS, port: int = 80) -> None:
        self._address = address
        self._port = port

    def ask(self, path: str, headers: Mapping[str, str], method: str = "GET") -> bytes | None:
        """See `MetadataDoor.ask`."""
        connection = http.client.HTTPConnection(self._address, self._port, timeout=ANSWER_SECONDS)
        try:
            connection.request(method, path, headers=dict(headers))
            answer = connection.getresponse()
            data = _body(answer, path)
        except (OSError, http.client.HTTPException) as error:
            message = f"{path}: does not answer: {type(error).__name__}"
            raise SourceError(message, _ADVICE) from None
        finally:
            connection.close()
        if answer.status == http.client.NOT_FOUND:
            return None
        if answer.status != http.client.OK:
            raise SourceError(f"{path}: answers with status {answer.status}", _ADVICE)
        return data


def _body(answer: http.client.HTTPResponse, path: str) -> bytes:
    data, end = b"", time.monotonic() + ANSWER_SECONDS
    while part := answer.read1(MOST_BYTES):
        data += part
        if len(data) > MOST_BYTES:
            raise SourceError(f"{path}: answers with more than {MOST_BYTES} bytes", _ADVICE)
        if time.monotonic() > end:
            raise SourceError(f"{path}: takes more than {ANSWER_SECONDS:g} s", _ADVICE)
    return data
