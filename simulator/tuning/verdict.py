"""From a study to a verdict: what was chosen on train, and what held-out says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from fourleaf.simulator.tuning.cases import Split
from fourleaf.simulator.tuning.choice import (
    Compared,
    TrialResult,
    candidates,
    chosen,
    compared,
    default_of,
)
from fourleaf.simulator.tuning.evaluate import Evaluation
from fourleaf.simulator.tuning.knobs import Settings, settings_of
from fourleaf.simulator.tuning.objectives import OBJECTIVES
from fourleaf.simulator.tuning.study import finished
from fourleaf.simulator.tuning.task import TuningTask

if TYPE_CHECKING:
    from optuna import Study

LOOKS = "heldOut"
DEFAULT = "default"

Judge = Callable[[Settings, bool], Evaluation]
"""What settings come to; on held-out where the second argument says so."""


@dataclass(frozen=True, slots=True)
class StudyVerdict:
    """What a study found.

    `front` are the numbers of the trials that no other is better than in all objectives.
    `tuned` is the trial chosen on train, `None` where none was better there; then `held_out` is
    `None` too. `looks` is how many choices were ever judged on held-out: each further one is
    weaker evidence, because a look at held-out had a say in going on.
    """

    task: TuningTask
    split: Split
    trials: tuple[TrialResult, ...]
    front: frozenset[int]
    default: TrialResult
    tuned: TrialResult | None
    train: Compared | None
    held_out: Compared | None
    looks: int
    tolerance: float

    @property
    def better(self) -> bool:
        """Whether held-out confirms the choice."""
        return self.held_out is not None and self.held_out.better(self.tolerance)


def verdict_of(
    study: Study, task: TuningTask, split: Split, judge: Judge, tolerance: float
) -> StudyVerdict:
    """Choose on train, then look at held-out once for the choice and once for the default."""
    found = candidates(finished(study))
    stands = settings_of(task.config, task.knobs)
    default = default_of(task, found) or TrialResult(-1, stands, judge(stands, False))
    tuned = chosen(task, default, found, tolerance)
    train = held_out = None
    looks = _looks(study)
    if tuned is not None:
        train = compared(task, default.train, tuned.train)
        before = _look(study, DEFAULT, stands, judge)
        after = _look(study, str(tuned.number), tuned.settings, judge)
        held_out = compared(task, before, after)
        looks = _looks(study)
    front = frozenset(trial.number for trial in study.best_trials)
    return StudyVerdict(
        task, split, tuple(found), front, default, tuned, train, held_out, looks, tolerance
    )


def sentence(verdict: StudyVerdict) -> str:
    """What came of it, for people."""
    task, count = verdict.task, f"{len(verdict.trials)} trials"
    if verdict.tuned is None or verdict.held_out is None:
        return (
            f"Nothing better found: none of {count} gains on train without a loss of more than "
            f"{verdict.tolerance:.1%} in {' or '.join(task.objectives)}."
        )
    one, changes = verdict.held_out, []
    for at, name in enumerate(task.objectives):
        shown = OBJECTIVES[name].shown
        before, after = one.default.values[at], one.tuned.values[at]
        changes.append(f"{name} {shown(before)} -> {shown(after)} ({one.gains[at]:+.1%})")
    brings = f"brings {', '.join(changes)} on held-out"
    wins = f"{one.wins} of {len(one.tuned.cases)} replays"
    if verdict.better:
        return f"Better: trial {verdict.tuned.number} of {count} {brings}; it gains in {wins}."
    return (
        f"Nothing better found: trial {verdict.tuned.number} of {count}, the best on train, "
        f"{brings}; it gains in {wins}."
    )


def _look(study: Study, name: str, settings: Settings, judge: Judge) -> Evaluation:
    """What settings come to on held-out, kept in the study, computed once."""
    known = dict(study.user_attrs.get(LOOKS, {}))
    if name not in known:
        known[name] = asdict(judge(settings, True))
        study.set_user_attr(LOOKS, known)
    kept = known[name]
    return Evaluation(tuple(tuple(case) for case in kept["cases"]), kept["unproven"])


def _looks(study: Study) -> int:
    return sum(name != DEFAULT for name in study.user_attrs.get(LOOKS, {}))
