"""Which trial is chosen, on train alone, and whether it holds on what was held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from fourleaf.simulator.tuning.evaluate import Evaluation
from fourleaf.simulator.tuning.knobs import Settings, settings_of
from fourleaf.simulator.tuning.objectives import OBJECTIVES
from fourleaf.simulator.tuning.study import CASES, UNPROVEN, settings_of_trial
from fourleaf.simulator.tuning.task import TuningTask

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

LEAST_GAIN = 0.005
"""The mean gain over the objectives from which a config counts as better."""
TOLERANCE = 0.01
"""The share by which any objective may get worse."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial and what it came to on train."""

    number: int
    settings: Settings
    train: Evaluation


@dataclass(frozen=True, slots=True)
class Compared:
    """A config beside the default on the same cases; `gains` as shares, negative where worse.

    `wins` are the cases in which it gains on the mean of the objectives.
    """

    default: Evaluation
    tuned: Evaluation
    gains: tuple[float, ...]
    wins: int

    @property
    def gain(self) -> float:
        """The mean gain over the objectives."""
        return mean_gain(self.gains)

    def better(self, tolerance: float) -> bool:
        """Whether it gains on the mean, and no objective loses more than `tolerance`."""
        return self.gain >= LEAST_GAIN and all(gain >= -tolerance for gain in self.gains)


def mean_gain(gains: Sequence[float]) -> float:
    """The mean, where nothing counts for more than twice as good or bad as it was."""
    return fmean(max(-1.0, min(1.0, gain)) for gain in gains)


def candidates(trials: Sequence[FrozenTrial]) -> list[TrialResult]:
    """The finished trials with what they tried."""
    return [
        TrialResult(
            trial.number,
            settings_of_trial(trial),
            Evaluation(
                tuple(tuple(case) for case in trial.user_attrs[CASES]), trial.user_attrs[UNPROVEN]
            ),
        )
        for trial in trials
    ]


def default_of(task: TuningTask, found: Sequence[TrialResult]) -> TrialResult | None:
    """The trial of the config as it stands, where it was finished."""
    stands = settings_of(task.config, task.knobs)
    return next((one for one in found if dict(one.settings) == dict(stands)), None)


def compared(task: TuningTask, default: Evaluation, tuned: Evaluation) -> Compared:
    """What the tuned config gains."""
    return Compared(
        default,
        tuned,
        _gains(task, default.values, tuned.values),
        sum(
            mean_gain(_gains(task, before, after)) > 0
            for before, after in zip(default.cases, tuned.cases, strict=True)
        ),
    )


def chosen(
    task: TuningTask, default: TrialResult, found: Sequence[TrialResult], tolerance: float
) -> TrialResult | None:
    """The best trial on train: most gain on the mean, and no objective much worse.

    `None` where none is better than the default. Ties go to the earliest.
    """
    against = {one.number: compared(task, default.train, one.train) for one in found}
    fit = [one for one in found if against[one.number].better(tolerance)]
    return max(fit, key=lambda one: (against[one.number].gain, -one.number), default=None)


def _gains(task: TuningTask, before: Sequence[float], after: Sequence[float]) -> tuple[float, ...]:
    measures = [OBJECTIVES[name] for name in task.objectives]
    pairs = zip(measures, before, after, strict=True)
    return tuple(one.gain(old, new) for one, old, new in pairs)
