"""The study: its trials, kept in a storage, and who proposes the next one.

Proposals come from Optuna's tree-structured Parzen estimator for several objectives (Ozaki et
al., "Multiobjective Tree-Structured Parzen Estimator", JAIR 2022): a trial takes a minute here,
and it learns from tens of them where NSGA-II wants a population of as many.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from fourleaf.simulator.tuning.knobs import Settings, settings_of
from fourleaf.simulator.tuning.objectives import OBJECTIVES
from fourleaf.simulator.tuning.task import TuningTask

if TYPE_CHECKING:
    from optuna import Study
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

TASK = "task"
DEFAULT = "default"
CASES = "cases"
UNPROVEN = "unproven"
SETTINGS = "settings"
RANDOM_TRIALS = 10
"""Trials at random before the sampler learns from them."""


class OtherTask(ValueError):
    """The study was begun for another task."""


def open_study(storage: BaseStorage, name: str, task: TuningTask) -> Study:
    """The study `name`, begun where there is none. Its first trial is the config as it stands.

    Raises `OtherTask` where it was begun for another task.
    """
    import optuna
    from optuna.study import StudyDirection

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    directions = [StudyDirection[OBJECTIVES[one].direction.name] for one in task.objectives]
    try:
        study = optuna.create_study(
            storage=storage, study_name=name, directions=directions, load_if_exists=True
        )
    except ValueError as error:
        raise OtherTask(f"study {name} has other objectives") from error
    known = study.user_attrs.get(TASK)
    if known is None:
        study.set_user_attr(TASK, task.text())
        enqueue_default(study, task, skip_if_exists=True)
    elif fields := TuningTask.model_validate_json(known).differences(task):
        raise OtherTask(f"study {name} was begun with other values of {', '.join(fields)}")
    return study


def enqueue_default(study: Study, task: TuningTask, *, skip_if_exists: bool = False) -> None:
    """Let the config as it stands be the next trial."""
    settings = dict(settings_of(task.config, task.knobs))
    study.enqueue_trial(settings, {DEFAULT: True}, skip_if_exists=skip_if_exists)


def is_default(trial: FrozenTrial) -> bool:
    """Whether it is the trial of the config as it stands."""
    return bool(trial.user_attrs.get(DEFAULT))


def sampler(seed: int, worker: int, done: int) -> BaseSampler:
    """Who proposes the next trial to this worker, after so many finished ones of the study.

    Made anew for each trial, so that a study that was ended and goes on is the one that it would
    have been; trials that run elsewhere count as bad meanwhile, so that workers do not meet.
    """
    from optuna.samplers import TPESampler

    own = random.Random(f"tune {seed} {worker} {done}").getrandbits(31)  # noqa: S311 - a search
    return TPESampler(
        n_startup_trials=RANDOM_TRIALS, multivariate=True, constant_liar=True, seed=own
    )


def finished(study: Study) -> list[FrozenTrial]:
    """The trials that came to an end, in their order."""
    from optuna.trial import TrialState

    return study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])


def settings_of_trial(trial: FrozenTrial) -> Settings:
    """What a trial tried, as it was applied."""
    found: Settings = trial.user_attrs[SETTINGS]
    return found
