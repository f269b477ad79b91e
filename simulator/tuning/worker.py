"""One worker: takes the next trial, replays it, writes down what came of it, until all are done."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from typing import TYPE_CHECKING

from simulator.tuning.cases import split_of
from simulator.tuning.evaluate import Evaluation, evaluate
from simulator.tuning.knobs import Settings, settings_of, suggested
from simulator.tuning.storage import open_storage
from simulator.tuning.study import (
    CASES,
    SETTINGS,
    UNPROVEN,
    WORKER,
    finished,
    open_study,
    sampler,
)
from simulator.tuning.task import Task

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

Listen = Callable[["FrozenTrial"], None]
"""Hears of each trial of this worker that ended."""


def name_of(pid: int) -> str:
    """What a worker is called in the trials that it runs."""
    return f"{platform.node()}/{pid}"


def work(
    url: str, name: str, task: Task, trials: int, number: int = 0, listen: Listen | None = None
) -> None:
    """Join the study `name` in the storage `url` until `trials` of its trials are finished.

    Workers of one study have numbers of their own, from 0. Raises what opening the storage, the
    study and the evidence raises.
    """
    train = split_of(task).train
    study = open_study(open_storage(url), name, task)
    run(study, task, trials, number, lambda settings: evaluate(task, settings, train), listen)


def run(
    study: Study,
    task: Task,
    trials: int,
    number: int,
    judge: Callable[[Settings], Evaluation],
    listen: Listen | None = None,
) -> None:
    """Run trials of `study`, one after the other, until so many are finished."""
    base = settings_of(task.config, task.knobs)

    def objective(trial: Trial) -> tuple[float, ...]:
        trial.set_user_attr(WORKER, name_of(os.getpid()))
        settings = suggested(trial, base)
        trial.set_user_attr(SETTINGS, dict(settings))
        found = judge(settings)
        trial.set_user_attr(CASES, found.cases)
        trial.set_user_attr(UNPROVEN, found.unproven)
        return found.values

    def heard(_: Study, trial: FrozenTrial) -> None:
        if listen is not None:
            listen(trial)

    while len(finished(study)) < trials:
        study.sampler = sampler(task.seed, number, len(study.get_trials(deepcopy=False)))
        study.optimize(objective, n_trials=1, callbacks=[heard])
