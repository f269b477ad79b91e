"""Bytes to a server and what comes back, without a client that would set them right."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

PATIENCE = 15.0
"""Seconds for an answer."""
LIMIT = 2**20
"""Bytes of an answer that are read."""
CLOSE = b"Connection: close\r\n\r\n"


@dataclass(frozen=True)
class Ask:
    """A request as bytes, and the statuses that are right; 0 is an end without an answer."""

    name: str
    data: bytes
    right: tuple[int, ...]


def request(line: str, *headers: str, host: str = "127.0.0.1", body: bytes | None = None) -> bytes:
    """A request after which the server is to close; with the length of its body."""
    given = [f"Host: {host}", *headers]
    if body is not None:
        given.append(f"Content-Length: {len(body)}")
    head = "".join(f"{one}\r\n" for one in (f"{line} HTTP/1.1", *given)).encode()
    return head + CLOSE + (body or b"")


def posted(path: str, document: Any, *headers: str) -> bytes:
    """A POST of a document as JSON."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return request(f"POST {path}", "Content-Type: application/json", *headers, body=body)


def connected(port: int, tls: bool = False, patience: float = PATIENCE) -> socket.socket:
    """A connection to this machine."""
    plain = socket.create_connection(("127.0.0.1", port), patience)
    if not tls:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(plain)


def answer(port: int, data: bytes, tls: bool = False) -> bytes:
    """All that comes back, b"" where the connection ends without a word."""
    got = b""
    with contextlib.suppress(OSError), connected(port, tls) as one:
        one.sendall(data)
        while len(got) < LIMIT and (part := one.recv(65536)):
            got += part
    return got


def status(got: bytes) -> int:
    """The status of an answer, 0 where there is none."""
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", got)
    return int(found[1]) if found else 0


def poured(port: int, head: bytes, part: bytes, most: int) -> int:
    """Send `part` again and again after `head`; the bytes that were taken before the end."""
    sent = 0
    with contextlib.suppress(OSError), connected(port) as one:
        one.sendall(head)
        while sent < most:
            one.sendall(part)
            sent += len(part)
    return sent


@contextmanager
def crowd(port: int, count: int, data: bytes = b"", tls: bool = False) -> Iterator[int]:
    """So many connections that have sent `data` and no more; how many there were."""
    held: list[socket.socket] = []
    try:
        for _ in range(count):
            with contextlib.suppress(OSError):
                one = connected(port, tls, 5)
                held.append(one)
                one.sendall(data)
        yield len(held)
    finally:
        for one in held:
            one.close()
