"""Clients that mean harm, at the ports of scheduler, webhook and dashboard as processes."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.throughput.cost import cpu_seconds
from fourleaf.k8s_bridge.cluster.memory.actors import pod as honest_pod
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import DASHBOARD, RBAC, SCHEDULER, account, install
from tests.e2e.board import TOKEN, Board
from tests.e2e.checker import holds
from tests.e2e.hook import Hook, Scene, pod, pods, refusal
from tests.e2e.hostile import asks
from tests.e2e.hostile.wire import (
    CLOSE,
    Ask,
    answer,
    connected,
    crowd,
    poured,
    request,
    status,
)
from tests.e2e.replica import Replica

HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
HALF_REVIEW = (
    b"POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 9\r\n\r\n{"
)
FEW_FILES = ("bash", "-c", 'ulimit -n 1024; exec "$@"', "few-files")
"""What containerd gives a container."""
MIB = 2**20
SLOW_SECONDS = 5.0
"""As long as the API server waits for the webhook."""


@dataclass
class Doors:
    """One process of each component, started when it is first wanted."""

    scene: Scene
    folder: Path
    hook: Hook
    replica: Replica
    boards: dict[str, Board] = field(default_factory=dict)

    def honest(self, name: str, patience: float = 30) -> None:
        """A pod of another tenant is bound in time."""
        space = self.scene.api.new_namespace()
        self.scene.api.create(pods(space), honest_pod(name))
        bound = lambda: all(map(holds, self.scene.api.get(pods(space))["items"]))  # noqa: E731
        eventually(bound, f"{name} is bound", patience)
        self.scene.api.delete(f"{pods(space)}/{name}?gracePeriodSeconds=0")

    def admitted(self) -> float:
        """Seconds until the API server has had an honest pod reviewed."""
        began = time.monotonic()
        assert not refusal(self.scene.api, self.scene.enforced, pod("honest"))
        return time.monotonic() - began


@pytest.fixture(scope="module")
def doors(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """All of them on four nodes, each under the rights that ship."""
    plane, folder = module_control_plane, tmp_path_factory.mktemp("doors")
    scene = Scene(plane, folder)
    create_fleet(plane.kubeconfig(), Fleet(4))
    with scene.api as api, contextlib.ExitStack() as stack:
        install(api, RBAC / "scheduler.yaml", RBAC / "dashboard.yaml")
        kubeconfig = account(plane, SCHEDULER, folder)
        replica = Replica(plane, "admin", folder, kubeconfig=kubeconfig, prefix=FEW_FILES)
        stack.enter_context(replica)
        hook = stack.enter_context(scene.hook())
        scene.wait()
        eventually(lambda: replica.leads, "it leads", 90)
        found = Doors(scene, folder, hook, replica)
        looker = account(plane, DASHBOARD, folder)
        server = ("--server", f"http://127.0.0.1:{replica.port}")
        proxy = ("--auth-header", "X-Forwarded-User", "--host", "site.example")
        for name, access in {
            "token": None,
            "open": (),
            "far proxy": (*proxy, "--trusted-proxy", "10.0.0.0/8"),
            "near proxy": proxy,
        }.items():
            board = Board(looker, folder, *server, access=access)
            found.boards[name] = stack.enter_context(board)
        yield found


def refused(port: int, rows: tuple[Ask, ...], tls: bool = False) -> dict[str, int]:
    """The statuses of those that are not answered as they should be, by name."""
    got = {one.name: status(answer(port, one.data, tls)) for one in rows}
    return {one.name: got[one.name] for one in rows if got[one.name] not in one.right}


def resident_mib(pid: int | None) -> float:
    """What a process holds."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def pounding(port: int, data: bytes, clients: int, tls: bool = False) -> Iterator[None]:
    """So many clients that ask the same again and again."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            if not answer(port, data, tls):
                time.sleep(0.05)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(clients)]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        stop.set()
        for one in threads:
            one.join()


@pytest.mark.parametrize(
    ("door", "rows"),
    [
        ("token", asks.DASHBOARD),
        ("open", asks.OPEN),
        ("far proxy", asks.FAR_PROXY),
        ("near proxy", asks.NEAR_PROXY),
    ],
)
def test_the_dashboard_lets_nobody_past(doors: Doors, door: str, rows: tuple[Ask, ...]) -> None:
    """Each request is refused by its status."""
    assert refused(doors.boards[door].port, rows) == {}


def test_the_scheduler_answers_pages_alone(doors: Doors) -> None:
    """Whatever else comes is refused, and a header without end is cut."""
    assert refused(doors.replica.port, asks.PAGES) == {}
    before = resident_mib(doors.replica.pid)
    assert poured(doors.replica.port, HALF, b"a" * 65536, 32 * MIB) < 32 * MIB
    assert resident_mib(doors.replica.pid) - before < 20


def test_the_webhook_answers_reviews_alone(doors: Doors) -> None:
    """Whatever else comes is refused, or answered by a review."""
    assert refused(doors.hook.port, asks.REVIEWS, tls=True) == {}


@pytest.mark.parametrize("name", asks.COSTLY)
def test_no_review_keeps_the_webhook_busy(doors: Doors, name: str) -> None:
    """The most that fits of one thing; seconds of its own, whatever else the machine does."""
    pids = [doors.hook.pid or 0]
    before = cpu_seconds(pids)
    assert status(answer(doors.hook.port, asks.costly(name), tls=True)) != 0
    assert cpu_seconds(pids) - before < SLOW_SECONDS


def test_the_api_server_gets_through_a_crowd(doors: Doors) -> None:
    """Half-sent reviews, connections without a handshake, and large reviews without a pause."""
    port = doors.hook.port
    with crowd(port, 560, HALF_REVIEW, tls=True) as held:
        assert held > 400
        assert max(doors.admitted() for _ in range(4)) < SLOW_SECONDS
    with crowd(port, 1500):
        assert max(doors.admitted() for _ in range(3)) < SLOW_SECONDS
    with pounding(port, asks.costly("containers"), 4, tls=True):
        time.sleep(2)
        assert max(doors.admitted() for _ in range(3)) < SLOW_SECONDS


def test_half_sent_heads_stop_no_scheduler(doors: Doors) -> None:
    """More of them than it may have files: probes are answered, gangs are bound."""
    with crowd(doors.replica.port, 1100, HALF):
        doors.honest("in-a-crowd")
        assert doors.replica.get("/healthz")
    with pounding(doors.replica.port, request("GET /status"), 4):
        doors.honest("beside-readers")
    assert doors.replica.leads


def test_half_sent_heads_keep_nobody_from_the_dashboard(doors: Doors) -> None:
    """Nor do streams that are held open, or heads without end."""
    board = doors.boards["token"]
    asked = f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{asks.BEARER}\r\n\r\n".encode()
    with crowd(board.port, 300, asked):
        assert board.status(asks.FABRIC) == 200
    before = resident_mib(board.pid)
    with crowd(board.port, 700, HALF):
        assert board.status(asks.FABRIC) == board.status("/healthz") == 200
    assert poured(board.port, HALF, b"a" * 65536, 32 * MIB) < 32 * MIB
    lines = b"".join(b"h%d: v\r\n" % number for number in range(5000))
    head = HALF + b"\r\n"
    assert poured(board.port, head, lines, 32 * MIB) < 32 * MIB
    assert resident_mib(board.pid) - before < 100


def test_a_login_gives_a_session_that_cannot_be_changed(doors: Doors) -> None:
    """It leads to our own pages alone, and scripts cannot read it."""
    port = doors.boards["token"].port
    form = f"token={TOKEN}&next=%2F%5Cevil.example".encode()
    kind = "Content-Type: application/x-www-form-urlencoded"
    got = answer(port, request("POST /login", kind, body=form)).decode().lower()
    assert "\r\nlocation: /\r\n" in got
    found = re.search(r"set-cookie: ([^;]+); (.*)\r\n", got)
    assert found
    assert "httponly" in found[2]
    assert "samesite=strict" in found[2]
    # The time of its end comes first.
    later = found[1].replace("=1", "=9", 1)
    assert later != found[1]
    assert status(answer(port, request(f"GET {asks.FABRIC}", f"Cookie: {later}"))) == 401


def test_guesses_at_the_token_are_slow_and_counted(doors: Doors) -> None:
    """Ten of them, one after the other."""
    port = doors.boards["token"].port
    guess = request(f"GET {asks.FABRIC}", "Authorization: Bearer guess")
    began = time.monotonic()
    assert {status(answer(port, guess)) for _ in range(10)} <= {401, 429}
    assert time.monotonic() - began > 2
    with connected(port) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + CLOSE)
        assert status(one.recv(4096)) == 200
