"""The choice is made on train, and held-out has the last word."""

from dataclasses import replace

import pytest
from optuna.storages import InMemoryStorage

from fourleaf.simulator.tuning.cases import Case, Split
from fourleaf.simulator.tuning.choice import TrialResult, chosen
from fourleaf.simulator.tuning.evaluate import Evaluation
from fourleaf.simulator.tuning.knobs import Settings
from fourleaf.simulator.tuning.study import open_study
from fourleaf.simulator.tuning.tables import tables
from fourleaf.simulator.tuning.verdict import sentence, verdict_of
from tests.simulator.made import job, leaves, trace
from tests.simulator.tuning.made import TASK, WEIGHT, formula, study_of

CASE = Case(trace(job("a", 0, 1), job("b", 1, 1)), leaves(1))
SPLIT = Split((CASE, CASE), (CASE, CASE), "first", "last")


def candidate(number: int, allocation: float, leaves: float) -> TrialResult:
    """Make a trial of one case."""
    return TrialResult(number, {WEIGHT: number / 10}, Evaluation(((allocation, leaves),)))


def test_the_choice_gains_most_without_a_loss_elsewhere() -> None:
    """Of allocation and leaves, gains in percent: 10 and -0.5; 20 and -2; 0.2 and 0; -0.5 and 8.

    The second loses too much, the third gains 0.1 on the mean, the first more than the fourth.
    """
    default = candidate(1, 0.5, 1.0)
    rivals = [
        default,
        candidate(2, 0.55, 1.005),
        candidate(3, 0.6, 1.02),
        candidate(4, 0.501, 1.0),
        candidate(5, 0.4975, 0.92),
    ]
    best = chosen(TASK, default, rivals, 0.01)
    assert best is not None
    assert best.number == 2
    last = chosen(TASK, default, rivals[2:], 0.01)
    assert last is not None
    assert last.number == 5
    assert chosen(TASK, default, [default, rivals[3]], 0.01) is None


def test_a_gain_that_holds_is_better() -> None:
    """On held-out the formula gives the same: 45 % and 55 % at the default's 0.1 become more."""
    verdict = verdict_of(study_of(6), TASK, SPLIT, lambda settings, _: formula(settings), 0.01)
    assert verdict.better
    assert verdict.tuned is not None
    best = max(one.settings[WEIGHT] for one in verdict.trials)
    assert verdict.tuned.settings[WEIGHT] == best
    assert verdict.held_out is not None
    assert verdict.held_out.default.values == pytest.approx((0.46, 1.3))
    assert verdict.held_out.wins == 2
    assert sentence(verdict).startswith(f"Better: trial {verdict.tuned.number} of 6 trials brings")
    assert "it gains in 2 of 2 replays" in sentence(verdict)


def test_a_gain_that_does_not_hold_is_none() -> None:
    """What train praises is worse where it was not seen, in both objectives."""

    def judge(settings: Settings, held_out: bool) -> Evaluation:
        found = formula(settings)
        if not held_out or settings[WEIGHT] == 0.1:
            return found
        return Evaluation(tuple((share / 2, 2 * leaves) for share, leaves in found.cases))

    verdict = verdict_of(study_of(6), TASK, SPLIT, judge, 0.01)
    assert verdict.tuned is not None
    assert not verdict.better
    assert sentence(verdict).startswith("Nothing better found: trial ")
    assert "leaves 1.300 -> 2.600 (-100.0%)" in sentence(verdict)
    assert "it gains in 0 of 2 replays" in sentence(verdict)


def test_held_out_is_looked_at_once_for_each_choice() -> None:
    """Two verdicts on the same study ask once for the default and once for the choice."""
    asked: list[tuple[float, bool]] = []

    def judge(settings: Settings, held_out: bool) -> Evaluation:
        asked.append((float(settings[WEIGHT]), held_out))
        return formula(settings)

    study = study_of(4)
    first = verdict_of(study, TASK, SPLIT, judge, 0.01)
    second = verdict_of(study, TASK, SPLIT, judge, 0.01)
    assert first == second
    assert len(asked) == 2
    assert all(held_out for _, held_out in asked)
    assert second.looks == 1


def test_nothing_better_on_train_leaves_held_out_alone() -> None:
    """A study of the default alone; its figures stand in the table all the same."""

    def judge(_: Settings, __: bool) -> Evaluation:
        raise AssertionError("held-out was looked at")

    verdict = verdict_of(study_of(1), TASK, SPLIT, judge, 0.01)
    assert (verdict.tuned, verdict.held_out, verdict.better) == (None, None, False)
    assert sentence(verdict).startswith("Nothing better found: none of 1 trials")
    assert tables(verdict)[0].rows[0] == ("allocation", "46.0 %", "-", "-", "-", "-", "-")


def test_a_default_that_no_worker_finished_is_replayed() -> None:
    """A study without any trial: the default is judged on train for the comparison."""
    study = open_study(InMemoryStorage(), "made", TASK)
    verdict = verdict_of(study, TASK, SPLIT, lambda settings, _: formula(settings), 0.01)
    assert verdict.default == replace(verdict.default, number=-1, settings={WEIGHT: 0.1})
    assert verdict.default.train == formula({WEIGHT: 0.1})
