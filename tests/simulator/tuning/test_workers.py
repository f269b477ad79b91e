"""Workers are processes, and one that dies costs its trial alone."""

import os
import signal
from multiprocessing import active_children
from pathlib import Path

import pytest
from optuna.trial import FrozenTrial, TrialState

from fourleaf.simulator.readers import philly
from fourleaf.simulator.tuning.storage import open_storage
from fourleaf.simulator.tuning.study import finished, open_study
from fourleaf.simulator.tuning.task import TuningTask
from fourleaf.simulator.tuning.workers import NobodyLeft, together

ROWS = """\
timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:00:00,600,16,9600,a
2017-10-09 07:00:10,600,32,19200,a
2017-10-09 07:00:20,60,8,60,a
2017-10-09 07:00:30,60,8,60,a
"""
TINY = TuningTask(trace="philly", fabric="regular:8", deals=1, held_out=0.5)


def test_a_killed_worker_leaves_the_study_going(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two workers one is killed after the first trial; four trials are done, none is stuck."""
    (tmp_path / philly.FILE).write_text(ROWS)
    monkeypatch.setenv("TOPOLOGY_DATA_DIR", str(tmp_path))
    url = f"sqlite:///{tmp_path / 'study.db'}"
    heard: list[int] = []
    lost: list[int] = []

    def listen(trial: FrozenTrial) -> None:
        heard.append(trial.number)
        if len(heard) == 1:
            victim = active_children()[0]
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)

    together(url, "tiny", TINY, 4, 2, listen, lambda _, code: lost.append(code))
    study = open_study(open_storage(url), "tiny", TINY)
    assert lost == [-signal.SIGKILL]
    assert len(finished(study)) == 4
    assert not study.get_trials(states=[TrialState.RUNNING])
    assert sorted(heard) == sorted(trial.number for trial in finished(study))


def test_a_study_without_workers_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data is not there, so that every worker ends with an error."""
    monkeypatch.setenv("TOPOLOGY_DATA_DIR", str(tmp_path))
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with pytest.raises(NobodyLeft, match="0 of 1 trials"):
        together(url, "tiny", TINY, 1, 1, lambda _: None, lambda *_: None)
