"""Who runs the next trial, so that a study has as many as were asked for, and not one more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fourleaf.simulator.tuning.heartbeat import WORKER, name_of
from fourleaf.simulator.tuning.shutdown import whole
from fourleaf.simulator.tuning.study import enqueue_default, is_default
from fourleaf.simulator.tuning.task import TuningTask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optuna import Study, Trial
    from optuna.trial import FrozenTrial


def claim(study: Study, task: TuningTask, trials: int) -> Trial | None:
    """A trial to run, or `None` while `trials` are done or under way.

    Workers that ask at once all get one, in the order of their numbers; the last ones see those
    before them and give theirs back. So no more than `trials` ever come to an end: at its claim,
    the last of them in number would have seen all the others.
    """
    if _taken(study) >= trials:
        return None
    trial = None
    try:
        with whole():
            # A trial that runs has to say who runs it, or a dead worker would go unnoticed.
            trial = study.ask()
            trial.set_user_attr(WORKER, name_of(os.getpid()))
        surplus = _taken(study, trial.number) >= trials
    except BaseException:
        if trial is not None:
            fail(study, task, trial.number)
        raise
    if surplus:
        fail(study, task, trial.number)
        return None
    return trial


def complete(study: Study, trial: Trial, values: Sequence[float]) -> FrozenTrial | None:
    """Write down what came of a trial; `None` where it was given up meanwhile."""
    from optuna.exceptions import UpdateFinishedTrialError
    from optuna.trial import TrialState

    try:
        told = study.tell(trial, values, skip_if_finished=True)
    except UpdateFinishedTrialError:
        return None
    return told if told.state is TrialState.COMPLETE else None


def fail(study: Study, task: TuningTask, number: int) -> None:
    """Give up a trial that is not finished. The config as it stands is tried again."""
    from optuna.exceptions import UpdateFinishedTrialError
    from optuna.trial import TrialState

    try:
        told = study.tell(number, state=TrialState.FAIL)
    except (ValueError, UpdateFinishedTrialError):
        # Another worker was first.
        return
    if is_default(told):
        enqueue_default(study, task)


def _taken(study: Study, before: int | None = None) -> int:
    """Trials that are done or under way; of the latter, those before the number alone."""
    from optuna.trial import TrialState

    states = [TrialState.COMPLETE, TrialState.RUNNING]
    found = study.get_trials(deepcopy=False, states=states)
    return sum(
        before is None or one.state is TrialState.COMPLETE or one.number < before for one in found
    )
