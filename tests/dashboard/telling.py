"""What replicas of the scheduler tell at `/cycles`, and one that tells it over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def document(identity: str, leader: bool, count: int) -> dict[str, Any]:
    """What a replica tells that has seen so many cycles."""
    cycle = {
        "id": "4-1",
        "at": 100.0,
        "status": "OPTIMAL",
        "objective": 10,
        "bound": 10,
        "gap": 0.0,
        "placed": 3,
        "waiting": 1,
        "lost": 0,
        "seconds": {"observe": 0.01, "solve": 0.25},
        "stages": [],
        "note": "",
        "later": "of a newer version",
    }
    return {"kind": "Cycles", "identity": identity, "leader": leader, "cycles": [cycle] * count}


def many(count: int) -> dict[str, Any]:
    """What a leader tells of so many cycles: proven, not proven with a note, greedy."""
    told = document("scheduler-0", True, count)
    for number, cycle in enumerate(told["cycles"]):
        new = {
            "id": f"4-{count - number}",
            "at": 1763704800.0 - number,
            "objective": 10**9,
            "bound": 10**9,
        }
        if number % 3 == 0:
            note = "the time was up before the last solve was proven"
            new |= {"status": "FEASIBLE", "gap": 0.0125, "lost": 1, "note": note}
        elif number % 3 == 1:
            new |= {"status": "GREEDY", "gap": None}
        stage = {"name": "where", "proven": number % 3 != 0, "seconds": 0.2}
        new["stages"] = [stage | {"objective": 10**9, "bound": 10**9}]
        told["cycles"][number] = cycle | new
    return told


@contextmanager
def scheduler(told: dict[str, Any]) -> Iterator[str]:
    """A server in a thread of its own that answers `told` to everything; its URL."""
    body = json.dumps(told).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
