"""One worker: takes the next trial, replays it, writes down what came of it, until all are done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from fourleaf.simulator.tuning.cases import split_of
from fourleaf.simulator.tuning.evaluate import Evaluation, evaluate
from fourleaf.simulator.tuning.heartbeat import Watch, beating
from fourleaf.simulator.tuning.knobs import Settings, settings_of, suggested
from fourleaf.simulator.tuning.shutdown import orderly
from fourleaf.simulator.tuning.storage import open_storage
from fourleaf.simulator.tuning.study import CASES, SETTINGS, UNPROVEN, finished, open_study, sampler
from fourleaf.simulator.tuning.task import TuningTask
from fourleaf.simulator.tuning.trial_claims import claim, complete, fail

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

POLL_SECONDS = 0.5
"""Seconds between looks at the study while the last trials run elsewhere."""

Listen = Callable[["FrozenTrial"], None]
"""Hears of each trial of this worker that ended."""


def work(
    url: str,
    name: str,
    task: TuningTask,
    trials: int,
    number: int = 0,
    listen: Listen | None = None,
) -> None:
    """Join the study `name` in the storage `url` until `trials` of its trials are finished.

    Workers of one study have numbers of their own, from 0. Raises what opening the storage, the
    study and the evidence raises.
    """
    train = split_of(task).train
    with orderly():
        study = open_study(open_storage(url), name, task)
        run(study, task, trials, number, lambda settings: evaluate(task, settings, train), listen)


def run(
    study: Study,
    task: TuningTask,
    trials: int,
    number: int,
    judge: Callable[[Settings], Evaluation],
    listen: Listen | None = None,
) -> None:
    """Run trials of `study`, one after the other, until so many are finished.

    Trials whose worker died are given up. While the last ones run elsewhere it waits, to take
    the place of one that fails.
    """
    watch = Watch()
    while len(finished(study)) < trials:
        for dead in watch.dead(study):
            fail(study, task, dead.number)
        study.sampler = sampler(task.seed, number, len(finished(study)))
        trial = claim(study, task, trials)
        if trial is None:
            time.sleep(POLL_SECONDS)
            continue
        done = _tried(study, task, trial, judge)
        if done is not None and listen is not None:
            listen(done)


def _tried(
    study: Study, task: TuningTask, trial: Trial, judge: Callable[[Settings], Evaluation]
) -> FrozenTrial | None:
    """The trial as it ended; `None` where it ended elsewhere meanwhile.

    That is so where it was given up, or where SQLite gave the queued trial to two at once.
    """
    from optuna.exceptions import UpdateFinishedTrialError

    try:
        with beating(trial):
            settings = suggested(trial, settings_of(task.config, task.knobs))
            trial.set_user_attr(SETTINGS, dict(settings))
            found = judge(settings)
        trial.set_user_attr(CASES, found.cases)
        trial.set_user_attr(UNPROVEN, found.unproven)
        return complete(study, trial, found.values)
    except UpdateFinishedTrialError:
        return None
    except BaseException:
        fail(study, task, trial.number)
        raise
