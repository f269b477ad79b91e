"""An HTTP server that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourleaf.k8s_bridge.cluster.live import LiveCluster, connect

DROP = b""
"""Instead of an answer: read the request, then cut the connection."""

CUT = b"--cut--"
"""At the end of an answer: send what is before it, then cut the connection."""


def answer(status: int, body: Any, headers: str = "") -> bytes:
    """Write an HTTP answer with a JSON body."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(content)}\r\n{headers}\r\n"
    return head.encode() + content


def status(code: int, reason: str = "", **details: Any) -> bytes:
    """Write the answer of an apiserver that refuses."""
    body = {"kind": "Status", "code": code, "reason": reason, "message": "said", "details": details}
    return answer(code, body)


@dataclass
class Server:
    """Gives the answers in turn, one for each request, the last one for ever."""

    answers: Sequence[bytes]
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        try:
            while request := (await reader.readline()).decode().rsplit(" ", 1)[0]:
                headers = await _headers(reader)
                await reader.readexactly(int(headers.get("content-length", 0)))
                said = self.answers[min(len(self.requests), len(self.answers) - 1)]
                self.requests.append(request)
                self.headers.append(headers)
                if said == DROP:
                    break
                writer.write(said.removesuffix(CUT))
                await writer.drain()
                if said.endswith(CUT):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def _headers(reader: asyncio.StreamReader) -> dict[str, str]:
    found = {}
    while line := (await reader.readline()).decode().strip():
        key, _, value = line.partition(":")
        found[key.lower()] = value.strip()
    return found


def kubeconfig(folder: Path, port: int, user: dict[str, Any] | None = None) -> Path:
    """Write a kubeconfig for a server on 127.0.0.1."""
    content = {
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}/"}}],
        "users": [{"name": "u", "user": user or {"token": "secret"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content))
    return path


@asynccontextmanager
async def serving(
    folder: Path, *answers: bytes, user: dict[str, Any] | None = None
) -> AsyncIterator[tuple[LiveCluster, Server]]:
    """Run a client of a server that gives `answers`."""
    server = Server(answers)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    cluster = await connect(str(kubeconfig(folder, port, user)))
    try:
        yield cluster, server
    finally:
        await cluster.close()
        listener.close()
        await listener.wait_closed()
