"""`status` and `queue` of a scheduler that answers over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from fourleaf.cli.output import watch
from fourleaf.cli.render.queue import age
from fourleaf.k8s_bridge.reporting.status import LastCycle, Queued, Status, status_document
from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests.cli.conftest import Run


class Told:
    """What the server says, one document after the other; the last one again and again."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self.url = ""


@pytest.fixture
def told() -> Iterator[Told]:
    """A server on a port of its own."""
    given = Told()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = given.documents[0] if self.path == "/status" else {}
            if len(given.documents) > 1:
                given.documents.pop(0)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        given.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield given
        server.shutdown()
        thread.join()


def waits(name: str, priority: int, since: float, kind: ReasonKind) -> Queued:
    """A gang of 2 pods and 16 GPUs that waits."""
    reason = Reason(kind, unblock=("Wait for a.",))
    return Queued(GangKey("ml", name), priority, 16, 2, since, reason)


def document(*entries: Queued, holder: str = "me") -> dict[str, Any]:
    """What `/status` serves."""
    last = LastCycle("3-7", time.time() - 5, 0.0123, "OPTIMAL", 0.0, 2, len(entries))
    cycles = (("OPTIMAL", 7),)
    return status_document(
        Status("me", "1.0", holder == "me", holder, 3, 0.1, (), cycles, last, entries, "defaults")
    )


def test_order_is_that_of_planning(told: Told, run: Run) -> None:
    """Higher priority comes first, then who has waited longer."""
    now = time.time()
    kind = ReasonKind.OUTRANKED
    told.documents = [
        document(
            waits("young", 5, now - 60, kind),
            waits("low", 0, now - 9000, kind),
            waits("old", 5, now - 600, kind),
        )
    ]
    listed = json.loads(run("queue", "--server", told.url, "-o", "json").stdout)
    assert [one["name"] for one in listed["gangs"]] == ["old", "young", "low"]
    rows = run("queue", "--server", told.url).stdout.splitlines()
    assert rows[0].split()[:3] == ["gang", "priority", "pods"]
    assert rows[1].split()[:6] == ["ml/old", "5", "2", "16", "10m", "Outranked"]


def test_steps_are_in_the_wide_form(told: Told, run: Run) -> None:
    """`-o wide` says what would unblock each gang."""
    told.documents = [document(waits("a", 0, time.time(), ReasonKind.NO_FREE_CAPACITY))]
    assert "unblock: Wait for a." in run("queue", "--server", told.url, "-o", "wide").stdout


def test_watching_tells_of_changes_alone(
    told: Told, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three looks, the second shows nothing new and prints nothing."""
    entry = waits("a", 0, time.time(), ReasonKind.OUTRANKED)
    told.documents = [document(entry), document(entry), document()]
    looks = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(watch.time, "sleep", sleep)
    watched = run("queue", "--server", told.url, "--watch", "--interval", "2")
    assert looks == [2.0, 2.0, 2.0]
    assert watched.stdout.count("ml/a") == 1
    assert watched.stdout.count("no gang waits") == 1


def test_status_of_a_scheduler(told: Told, run: Run) -> None:
    """Its role, its last cycle and who waits are there, and the code says that somebody leads."""
    told.documents = [document(waits("a", 0, time.time(), ReasonKind.OUTRANKED))]
    shown = run("status", "--server", told.url)
    assert shown.exit_code == 0
    assert "me, version 1.0: leads" in shown.stdout
    assert "OPTIMAL in 12 ms, gap 0; 2 placed, 1 waiting" in shown.stdout
    assert "1 Outranked" in shown.stdout


def test_status_after_a_greedy_plan(told: Told, run: Run) -> None:
    """A gap of 0 would mean proven; of a greedy plan nothing is."""
    told.documents = [document()]
    told.documents[0]["lastCycle"] |= {"status": "GREEDY", "gap": None}
    shown = run("status", "--server", told.url).stdout
    assert "GREEDY in 12 ms, nothing proven; 2 placed" in shown


def test_status_without_a_leader(told: Told, run: Run) -> None:
    """A standby that knows of no leader ends the verb with 3."""
    told.documents = [document(holder="")]
    shown = run("status", "--server", told.url)
    assert shown.exit_code == 3
    assert "stands by; none leads" in shown.stdout
    assert "gangs       who leads knows which wait" in shown.stdout
    assert "kind: Status" in run("status", "--server", told.url, "-o", "yaml").stdout


@pytest.mark.parametrize("url", ["file:///etc/passwd", "127.0.0.1:80", ""])
def test_what_is_no_url(run: Run, url: str) -> None:
    """Only http and https are asked; an empty one is as none, which needs a kubeconfig."""
    shown = run("status", "--server", url, "--kubeconfig", "/nowhere")
    assert shown.exit_code == 2
    assert ("is not a URL" in shown.stderr) is bool(url)


def test_another_server(told: Told, run: Run) -> None:
    """A server that is no scheduler is bad input."""
    told.documents = [["hello"]]
    shown = run("queue", "--server", told.url)
    assert shown.exit_code == 2
    assert "is not the status of a scheduler" in shown.stderr


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0s"), (119, "119s"), (120, "2m"), (7200, "2h0m"), (172799, "47h59m"), (172800, "2d")],
)
def test_ages(seconds: float, text: str) -> None:
    """Ages get coarser as they grow."""
    assert age(seconds) == text
