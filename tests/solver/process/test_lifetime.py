"""Solver processes start, restart and end when they should, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from fourleaf.model.plan import PlanStatus
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.process.worker_restarts import LONGEST_DELAY_SECONDS, Supervisor, restart_delay
from tests.solver.process import faulty_worker
from tests.solver.process.probes import LIMIT, ON_LINUX, WORKER, gone, plan_with_fault
from tests.solver.process.stand_ins import snapshot, steps

ROOT = str(Path(__file__).parents[3])
PATIENCE = 60.0
"""Seconds of a limit that is not to end before a worker has died, however busy the machine."""


def test_dead_on_arrival() -> None:
    """A module that cannot be imported yields greedy plans at once and is not retried madly."""
    with SolverClient("tests.solver.no_such_worker", steps()) as broken:
        notes = [broken.plan(snapshot("a", limit=LIMIT)).note for _ in range(30)]
    held_back = [note for note in notes if "in a row" in note]
    assert len(held_back) > len(notes) / 2
    assert "No module named" in held_back[-1]


def test_crash_loop_backs_off() -> None:
    """The first restart is immediate, later ones wait twice as long each time, to a limit."""
    assert [restart_delay(n) for n in (1, 2, 3, 4)] == [0.0, 0.25, 0.5, 1.0]
    assert restart_delay(1000) == LONGEST_DELAY_SECONDS


@pytest.mark.parametrize("niceness", [0, 3])
def test_a_child_gives_way_as_far_as_it_is_asked_to(niceness: int) -> None:
    """It is as nice as its parent, or so much nicer, but for the least that Linux knows."""
    supervisor = Supervisor(WORKER, niceness)
    supervisor.start()
    with closing(supervisor):
        worker = supervisor.worker(time.monotonic() + 30)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, worker.pid) == min(19, own + niceness)


def test_slow_loading_is_not_punished(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that still loads at the deadline is left to load; the plan is greedy."""
    monkeypatch.setenv(faulty_worker.LOAD_FAULT, "hang")
    with SolverClient(WORKER, steps()) as client:
        plan, logs, _ = plan_with_fault(client, "a")
    assert "still loading" in plan.note
    assert not logs[0]["killed"]


def test_hung_loading_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has not loaded for too long is killed."""
    monkeypatch.setenv(faulty_worker.LOAD_FAULT, "hang")
    with SolverClient(WORKER, steps(), load_seconds=0.1) as client:
        plan, logs, _ = plan_with_fault(client, "a")
        assert "did not load" in plan.note
        assert gone(logs[0]["pid"])


def test_failed_import_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker printed before it died while loading reaches the note or the log."""
    monkeypatch.setenv(faulty_worker.LOAD_FAULT, "raise")
    with SolverClient(WORKER, steps()) as client:
        plan, logs, _ = plan_with_fault(client, "a", limit=PATIENCE)
    assert plan.status is PlanStatus.GREEDY
    assert "no such library" in plan.note + logs[0]["output"]


@ON_LINUX
def test_nothing_is_left_behind() -> None:
    """After crashes and close, no descriptor, thread or process of the client remains."""
    before = len(os.listdir("/proc/self/fd"))
    others = set(threading.enumerate())
    pids = []
    with SolverClient(WORKER, steps()) as client:
        for name in ("exits", "raises", "fine"):
            client.plan(snapshot("fine"))
            _, logs, _ = plan_with_fault(client, name)
            pids += [log["pid"] for log in logs]
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    assert not [one for one in threading.enumerate() if one.name == "solver" and one not in others]


def test_closed_client_refuses() -> None:
    """A closed client says so, and may be closed again."""
    with closing(SolverClient(WORKER, steps())) as client:
        client.start()
        client.close()
        with pytest.raises(RuntimeError, match="closed"):
            client.plan(snapshot("a"))


def test_child_outlives_the_thread_that_asked_for_it() -> None:
    """A worker started from a thread that ends serves other threads."""
    with closing(SolverClient(WORKER, steps())) as client:
        starter = threading.Thread(target=client.start)
        starter.start()
        starter.join()
        first = client.plan(snapshot("a"))
        time.sleep(0.1)
        assert first.status is client.plan(snapshot("b")).status is PlanStatus.OPTIMAL


def test_descendants_of_the_child_die_with_it() -> None:
    """What a bad worker has started is killed along with it."""
    with SolverClient(WORKER, steps()) as client:
        client.plan(snapshot("warm-up"))
        _, logs, _ = plan_with_fault(client, "breeds")
    heir = int(logs[0]["output"].split("heir=")[1].split()[0])
    assert gone(heir)


ORPHAN = """
import sys, time
from fourleaf.solver.process.worker_process import WorkerProcess
worker = WorkerProcess({module!r})
{more}
print(worker.pid, flush=True)
time.sleep(600)
"""


@ON_LINUX
@pytest.mark.parametrize("stopped", [False, True])
def test_child_dies_with_its_parent(stopped: bool) -> None:
    """A parent that is killed takes its worker along, even one that is stopped."""
    more = "worker.receive(time.monotonic() + 60)"
    if stopped:
        more += "; import os, signal; os.kill(worker.pid, signal.SIGSTOP)"
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN.format(module=WORKER, more=more)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    )
    assert parent.stdout is not None
    with parent.stdout as pipe:
        pid = int(pipe.readline())
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert gone(pid)


def test_parent_never_loads_ortools() -> None:
    """The client and what it needs leave OR-tools alone."""
    modules = "fourleaf.solver.process.client, fourleaf.model.validator"
    code = f"import sys, {modules}; sys.exit('ortools' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
