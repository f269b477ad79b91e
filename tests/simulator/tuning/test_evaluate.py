"""What a config comes to is what its replays come to, or nothing."""

import pytest

from fourleaf.simulator.options import ReplayOptions
from fourleaf.simulator.record import ReplayRecord
from fourleaf.simulator.replay import replay
from fourleaf.simulator.trace import Trace
from fourleaf.simulator.tuning import evaluate as module
from fourleaf.simulator.tuning.cases import Case
from fourleaf.simulator.tuning.evaluate import SolverFailed, evaluate, options_of
from fourleaf.simulator.tuning.task import TuningTask
from tests.simulator.made import job, leaves, options, trace

CASE = Case(trace(job("a", 0, 100), job("b", 50, 50, pods=2)), leaves(2))
TASK = TuningTask(objectives=("allocation", "wait"), period=1)


def _first_fit(jobs: Trace, fabric: object, told: ReplayOptions) -> ReplayRecord:
    return replay(jobs, CASE.fabric, options())


def test_values_are_means_of_the_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until 50, one node of two is used; b waits for 50 s and a for none: 50 % and 25 s."""
    monkeypatch.setattr(module, "replay", _first_fit)
    found = evaluate(TASK, {}, [CASE, CASE])
    assert found.cases == ((0.5, 25.0), (0.5, 25.0))
    assert found.values == (0.5, 25.0)


def test_answers_of_the_fallback_are_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cycle of many that the solver did not answer."""

    def failing(jobs: Trace, fabric: object, told: ReplayOptions) -> ReplayRecord:
        record = _first_fit(jobs, fabric, told)
        record.counts.greedy = 1
        return record

    monkeypatch.setattr(module, "replay", failing)
    with pytest.raises(SolverFailed, match="1 cycles"):
        evaluate(TASK, {}, [CASE])


def test_settings_reach_the_replay() -> None:
    """The weight in the config, and the wait after which room is kept in the replay's own."""
    told = options_of(TASK, {"fragmentation.weight": 2.5, "backfill.afterSeconds": 90})
    assert float(told.config.spec.fragmentation.weight) == 2.5
    assert (told.backfill.enabled, told.backfill.after) == (True, 90)
    patience = ReplayOptions().config.spec.solver.time_limit_seconds
    assert told.config.spec.solver.time_limit_seconds == patience
