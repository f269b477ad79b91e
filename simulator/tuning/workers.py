"""Several workers on this machine, as processes that share nothing but the study."""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING

from fourleaf.simulator.tuning.heartbeat import Watch
from fourleaf.simulator.tuning.shutdown import end_with_parent, orderly
from fourleaf.simulator.tuning.storage import open_storage
from fourleaf.simulator.tuning.study import finished, open_study
from fourleaf.simulator.tuning.task import TuningTask
from fourleaf.simulator.tuning.trial_claims import fail
from fourleaf.simulator.tuning.worker import POLL_SECONDS, Listen, work

if TYPE_CHECKING:
    from optuna import Study

Lost = Callable[[int, int], None]
"""Hears that a worker died: its number and its exit code, negative for a signal."""


class NobodyLeft(RuntimeError):
    """All workers died before the trials were done."""


def together(
    url: str, name: str, task: TuningTask, trials: int, workers: int, listen: Listen, lost: Lost
) -> None:
    """Run the study with so many workers until `trials` of its trials are finished.

    A worker that dies loses its trial, and the others go on. None outlives this process. Raises
    `NobodyLeft` where none is left before all is done, and what opening the storage and the study
    raises.
    """
    study = open_study(open_storage(url), name, task)
    heard = {trial.number for trial in finished(study)}
    context = get_context("spawn")
    crew = {
        number: context.Process(target=_member, args=(url, name, task, trials, number))
        for number in range(workers)
    }
    watch = Watch()
    with orderly():
        try:
            for one in crew.values():
                one.start()
            while crew:
                time.sleep(POLL_SECONDS)
                _part_with(crew, lost)
                _give_up(study, task, watch)
                for trial in finished(study):
                    if trial.number not in heard:
                        heard.add(trial.number)
                        listen(trial)
        finally:
            for one in crew.values():
                one.terminate()
                one.join()
            _give_up(study, task, watch)
    if len(finished(study)) < trials:
        raise NobodyLeft(f"all {workers} workers died; {len(heard)} of {trials} trials are done")


def _member(url: str, name: str, task: TuningTask, trials: int, number: int) -> None:
    """What a process of the crew does."""
    end_with_parent()
    work(url, name, task, trials, number)


def _part_with(crew: dict[int, SpawnProcess], lost: Lost) -> None:
    """Let go of the workers that ended."""
    for number, one in list(crew.items()):
        if one.exitcode is not None:
            del crew[number]
            if one.exitcode:
                lost(number, one.exitcode)


def _give_up(study: Study, task: TuningTask, watch: Watch) -> None:
    """What a worker was at when it died counts as failed."""
    for trial in watch.dead(study):
        fail(study, task, trial.number)
