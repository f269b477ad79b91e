"""Who gives no sign of life is found, and nobody else is."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from optuna import Study
from optuna.storages import InMemoryStorage

from fourleaf.simulator.tuning.heartbeat import (
    COUNT,
    SILENCE_SECONDS,
    WORKER,
    Watch,
    beating,
    name_of,
)
from fourleaf.simulator.tuning.study import open_study
from tests.simulator.tuning.made import TASK


def begun() -> Study:
    """A study without trials, but for the queued default."""
    return open_study(InMemoryStorage(), "made", TASK)


def numbers(watch: Watch, study: Study) -> list[int]:
    """The trials that count as dead."""
    return [trial.number for trial in watch.dead(study)]


def test_silence_counts_from_the_last_sign_that_was_heard() -> None:
    """Elsewhere, a sign after 100 s: alive until 120 s after that one was heard."""
    now = [0.0]
    study, watch = begun(), Watch(clock=lambda: now[0])
    trial = study.ask()
    trial.set_user_attr(WORKER, "elsewhere/1/7")
    assert numbers(watch, study) == []
    now[0] = 100.0
    trial.set_user_attr(COUNT, 1)
    assert numbers(watch, study) == []
    now[0] = 100.0 + SILENCE_SECONDS - 1
    assert numbers(watch, study) == []
    now[0] = 100.0 + SILENCE_SECONDS
    assert numbers(watch, study) == [trial.number]


def test_a_process_of_this_machine_that_ended_is_dead_at_once() -> None:
    """One that runs, and the same number on another host, are not."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    study, watch = begun(), Watch()
    names = [name_of(os.getpid()), f"elsewhere/1/{ended.pid}", name_of(ended.pid)]
    for name in names:
        study.ask().set_user_attr(WORKER, name)
    assert numbers(watch, study) == [2]


def test_a_worker_counts_while_its_trial_runs() -> None:
    """The count grows, and no more once the trial is over."""
    study = begun()
    trial = study.ask()
    with beating(trial, every=0.001):
        while study.get_trials()[0].user_attrs.get(COUNT, 0) < 3:
            time.sleep(0.001)
    stopped = study.get_trials()[0].user_attrs[COUNT]
    time.sleep(0.02)
    assert study.get_trials()[0].user_attrs[COUNT] == stopped
