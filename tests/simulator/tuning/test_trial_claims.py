"""A study has as many trials as were asked for, whoever is slow, late or dead."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from optuna import Study, Trial
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState

from fourleaf.simulator.tuning.choice import candidates, default_of
from fourleaf.simulator.tuning.evaluate import Evaluation
from fourleaf.simulator.tuning.heartbeat import WORKER, name_of
from fourleaf.simulator.tuning.knobs import Settings
from fourleaf.simulator.tuning.storage import open_storage
from fourleaf.simulator.tuning.study import finished, open_study
from fourleaf.simulator.tuning.trial_claims import claim, complete, fail
from fourleaf.simulator.tuning.worker import run
from tests.simulator.tuning.made import TASK, formula, study_of


def states(study: Study) -> list[TrialState]:
    """Of all trials, in their order."""
    return [trial.state for trial in study.get_trials()]


def test_workers_that_ask_at_once_get_no_more_than_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three of four are done, and another worker asks between our look and our asking."""
    study = study_of(3)
    ask = study.ask

    def late() -> Trial:
        ask()
        return ask()

    monkeypatch.setattr(study, "ask", late)
    assert claim(study, TASK, 4) is None
    assert states(study)[3:] == [TrialState.RUNNING, TrialState.FAIL]
    assert claim(study, TASK, 4) is None
    assert len(states(study)) == 5


def test_what_another_loses_is_free_again() -> None:
    """Two of three are done and one runs, so that nothing is left until that one fails."""
    study = study_of(2)
    other = study.ask()
    assert claim(study, TASK, 3) is None
    fail(study, TASK, other.number)
    assert claim(study, TASK, 3) is not None


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_many_workers_end_with_the_number_asked_for(kind: str, tmp_path: Path) -> None:
    """Four at once for seven trials, in both storages."""
    url = f"{kind}://{tmp_path / 'study'}".replace("sqlite://", "sqlite:///")
    open_study(open_storage(url), "made", TASK)

    def join(number: int) -> None:
        study = open_study(open_storage(url), "made", TASK)
        run(study, TASK, 7, number, formula)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(join, range(4)))
    found = states(open_study(open_storage(url), "made", TASK))
    assert found.count(TrialState.COMPLETE) == 7
    assert TrialState.RUNNING not in found


def test_the_trial_of_a_dead_worker_is_run_again() -> None:
    """A process that has ended holds the default; it is tried again, and the rest as without it."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    storage = InMemoryStorage()
    lost = open_study(storage, "made", TASK).ask()
    lost.set_user_attr(WORKER, name_of(ended.pid))
    study = study_of(6, storage=storage)
    assert states(study) == [TrialState.FAIL, *[TrialState.COMPLETE] * 6]
    found = candidates(finished(study))
    assert default_of(TASK, found) == found[0]
    alone = candidates(finished(study_of(6)))
    assert [one.settings for one in found] == [one.settings for one in alone]


def test_a_trial_that_was_given_up_counts_for_nothing_later() -> None:
    """Its worker was only slow: what it found comes too late, and it goes on with the next."""
    study = study_of(1)
    slow = study.ask()
    fail(study, TASK, slow.number)
    assert complete(study, slow, (0.5, 1.3)) is None
    assert len(finished(study)) == 1


def test_a_trial_that_ended_elsewhere_costs_nothing() -> None:
    """The first is given up while it is judged; the worker goes on until three are done."""
    study = open_study(InMemoryStorage(), "made", TASK)

    def judge(settings: Settings) -> Evaluation:
        if len(study.get_trials()) == 1:
            fail(study, TASK, 0)
        return formula(settings)

    run(study, TASK, 3, 0, judge)
    assert states(study) == [TrialState.FAIL, *[TrialState.COMPLETE] * 3]


def test_an_end_by_exception_leaves_nothing_running() -> None:
    """Interrupted in the second trial."""

    def judged() -> Iterator[Evaluation]:
        yield Evaluation(((0.4, 1.2),))
        raise KeyboardInterrupt

    answers = judged()

    def judge(_: Settings) -> Evaluation:
        return next(answers)

    study = open_study(InMemoryStorage(), "made", TASK)
    with pytest.raises(KeyboardInterrupt):
        run(study, TASK, 4, 0, judge)
    assert states(study) == [TrialState.COMPLETE, TrialState.FAIL]
