"""Several workers on this machine, as processes that share nothing but the study."""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING

from simulator.tuning.storage import open_storage
from simulator.tuning.study import WORKER, finished, open_study
from simulator.tuning.task import Task
from simulator.tuning.worker import Listen, name_of, work

if TYPE_CHECKING:
    from optuna import Study

POLL = 0.5
"""Seconds between looks at the study."""

Lost = Callable[[int, int], None]
"""Hears that a worker died: its number and its exit code, negative for a signal."""


class NobodyLeft(RuntimeError):
    """All workers died before the trials were done."""


def together(
    url: str, name: str, task: Task, trials: int, workers: int, listen: Listen, lost: Lost
) -> None:
    """Run the study with so many workers until `trials` of its trials are finished.

    A worker that dies loses its trial, and the others go on. Raises `NobodyLeft` where none is
    left before all is done, and what opening the storage and the study raises.
    """
    study = open_study(open_storage(url), name, task)
    heard = {trial.number for trial in finished(study)}
    context = get_context("spawn")
    crew = {
        number: context.Process(target=work, args=(url, name, task, trials, number))
        for number in range(workers)
    }
    try:
        for one in crew.values():
            one.start()
        while crew:
            time.sleep(POLL)
            _part_with(crew, study, lost)
            for trial in finished(study):
                if trial.number not in heard:
                    heard.add(trial.number)
                    listen(trial)
    finally:
        for one in crew.values():
            one.terminate()
            one.join()
    if len(finished(study)) < trials:
        raise NobodyLeft(f"all {workers} workers died; {len(heard)} of {trials} trials are done")


def _part_with(crew: dict[int, SpawnProcess], study: Study, lost: Lost) -> None:
    """Let go of the workers that ended; what one was at when it died counts as failed."""
    from optuna.trial import TrialState

    for number, one in list(crew.items()):
        if one.exitcode is None:
            continue
        del crew[number]
        if one.exitcode == 0 or one.pid is None:
            continue
        for trial in study.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
            if trial.user_attrs.get(WORKER) == name_of(one.pid):
                study.tell(trial.number, state=TrialState.FAIL)
        lost(number, one.exitcode)
