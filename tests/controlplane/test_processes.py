"""Processes of a control plane end when told to, with everything that they started."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane.processes import Process, ProcessError, free_ports
from tests.controlplane.waiting import eventually

FAMILY = "sleep 60 & echo child $!; wait"


def _lives(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    try:
        # The state follows the name in brackets; Z has ended and waits to be counted.
        return state.read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def _child(log: Path) -> int:
    lines = eventually(lambda: log.exists() and log.read_text().strip(), "the child has started")
    return int(str(lines).split()[-1])


def test_stop_ends_the_whole_group(tmp_path: Path) -> None:
    """A program's own children must not keep its ports after a test."""
    process = Process("family", ["sh", "-c", FAMILY], tmp_path / "log")
    process.start()
    child = _child(process.log)
    process.stop()
    assert not process.running
    eventually(lambda: not _lives(child), "the child has ended")


def test_kill_ends_what_is_paused(tmp_path: Path) -> None:
    """A test that froze a program must still be able to clean up."""
    process = Process("frozen", ["sleep", "60"], tmp_path / "log")
    process.start()
    process.pause()
    process.kill()
    assert process.pid is None


def test_an_early_end_is_told_with_the_last_words(tmp_path: Path) -> None:
    """A wrong flag must not look like a slow start."""
    process = Process("brief", ["sh", "-c", "echo bad flag; exit 3"], tmp_path / "log")
    process.start()
    with pytest.raises(ProcessError, match=r"brief ended with exit code 3:\nbad flag"):
        process.wait_ready(lambda: False, 10.0)


def test_what_cannot_start_is_told(tmp_path: Path) -> None:
    """A program that is not there has to be named."""
    process = Process("ghost", [str(tmp_path / "ghost")], tmp_path / "log")
    with pytest.raises(ProcessError, match="ghost"):
        process.start()


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_a_killed_test_run_leaves_nothing(tmp_path: Path) -> None:
    """Who kills pytest must not find etcd and kube-apiserver running a day later."""
    log = tmp_path / "log"
    script = (
        "import os, pathlib, signal, sys\n"
        "from tests.controlplane.processes import Process\n"
        "command = ['sh', '-c', 'echo $$; exec sleep 60']\n"
        "process = Process('child', command, pathlib.Path(sys.argv[1]))\n"
        "process.start()\n"
        "process.wait_ready(lambda: bool(process.log.read_text()), 10)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", script, str(log)], cwd=root, check=False)
    child = _child(log)
    eventually(lambda: not _lives(child), "the child has ended")


def test_free_ports_differ() -> None:
    """Two servers must not be sent to the same port, be they started at once or in turn."""
    assert len({*free_ports(50), *free_ports(50)}) == 100


def test_other_workers_find_other_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that another worker of the test run has found still looks free."""
    found = []
    for worker in ("gw0", "gw1", "gw7"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        found += free_ports(100)
    assert len(set(found)) == 300
