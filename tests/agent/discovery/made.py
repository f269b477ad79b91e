"""A host's `/sys` and files, and the metadata of a cloud, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parent / "samples"


def sample(name: str) -> bytes:
    """A recorded answer."""
    return (SAMPLES / name).read_bytes()


def port(root: Path, adapter: str, interface: str = "", **said: str) -> Path:
    """Make an adapter with one active port of RoCE at `interface`, or else of InfiniBand."""
    folder = root / "class" / "infiniband" / adapter / "ports" / "1"
    files = {
        "state": "4: ACTIVE",
        "rate": "400 Gb/sec (4X NDR)",
        "link_layer": "Ethernet" if interface else "InfiniBand",
        "lid": "0x0" if interface else "0x1a",
        "sm_lid": "0x0" if interface else "0x1",
        "gids/0": "fe80:0000:0000:0000:e09d:7303:0070:0000",
        "gid_attrs/ndevs/0": interface,
        "../../node_desc": f"gpu-7 {adapter}",
    }
    for name, text in (files | said).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return folder


def neighbours(**switches: str) -> bytes:
    """What `lldpctl -f json` prints for interfaces that see these switches."""
    seen = [
        {one: {"via": "LLDP", "chassis": {name: {"id": {"type": "mac", "value": f"id-{name}"}}}}}
        for one, name in switches.items()
    ]
    return json.dumps({"lldp": {"interface": seen}}).encode()


class Metadata:
    """Answers of a cloud by path, to those that send the header that it wants."""

    def __init__(self, answers: Mapping[str, bytes], wants: str = "") -> None:
        self.answers = dict(answers)
        self.wants = wants
        self.asked: list[str] = []

    def ask(self, path: str, headers: Mapping[str, str], method: str = "GET") -> bytes | None:
        """See `MetadataDoor.ask`."""
        self.asked.append(f"{method} {path}")
        assert not self.wants or self.wants in headers
        return self.answers.get(path)


class _Handler(BaseHTTPRequestHandler):
    answers: Mapping[str, tuple[int, bytes]]

    def do_GET(self) -> None:
        """Answer."""
        status, data = self.answers.get(self.path, (404, b""))
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def served(answers: Mapping[str, tuple[int, bytes]]) -> Iterator[int]:
    """A service that gives statuses and answers by path; its port."""
    handler = type("Handler", (_Handler,), {"answers": answers})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
