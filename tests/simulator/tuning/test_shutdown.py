"""No worker outlives the command, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from optuna.trial import TrialState

from fourleaf.simulator.readers import philly
from fourleaf.simulator.tuning.heartbeat import Watch
from fourleaf.simulator.tuning.storage import open_storage
from fourleaf.simulator.tuning.study import open_study
from tests.controlplane.waiting import eventually
from tests.simulator.tuning.test_workers import ROWS, TINY

BEGIN = """\
import sys
from fourleaf.simulator.tuning.workers import together
from tests.controlplane.waiting import eventually
from tests.simulator.tuning.test_workers import TINY
if __name__ == "__main__":
    together(sys.argv[1], "tiny", TINY, 100_000, 2, lambda _: None, lambda *_: None)
"""


def descendants(pid: int) -> set[int]:
    """Children of a process, and theirs."""
    found: set[int] = set()
    file = Path(f"/proc/{pid}/task/{pid}/children")
    for child in file.read_text().split() if file.exists() else ():
        found |= {int(child)} | descendants(int(child))
    return found


def runs(pid: int) -> bool:
    """Whether it is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_command(end: signal.Signals, tmp_path: Path) -> None:
    """A trial is under way when the command ends; then nothing runs.

    A trial whose worker could not give it up any more is seen as dead by whoever opens the study.
    """
    (tmp_path / philly.FILE).write_text(ROWS)
    program = tmp_path / "begin.py"
    program.write_text(BEGIN)
    url = f"journal://{tmp_path / 'study.log'}"
    path = f"{Path(__file__).parents[3]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    environment = {**os.environ, "TOPOLOGY_DATA_DIR": str(tmp_path), "PYTHONPATH": path}
    study = open_study(open_storage(url), "tiny", TINY)
    with subprocess.Popen(
        [sys.executable, str(program), url], env=environment, stderr=subprocess.DEVNULL
    ) as command:
        family: set[int] = set()
        try:
            running = [TrialState.RUNNING]
            eventually(lambda: study.get_trials(states=running), "a trial that runs", 120)
            family = descendants(command.pid)
            command.send_signal(end)
            command.wait(30)
            eventually(lambda: not any(map(runs, family)), "the end of all workers")
        finally:
            command.kill()
            for one in filter(runs, family):
                os.kill(one, signal.SIGKILL)
    assert len(family) >= 2
    left = study.get_trials(states=running)
    assert [one.number for one in Watch().dead(study)] == [one.number for one in left]
    assert not left or end is signal.SIGKILL
