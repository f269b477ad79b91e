"""What verbs that plan do about a solver process that never gets ready."""

import pytest
from structlog.testing import capture_logs

from fourleaf.cli.input import plan_input
from fourleaf.model.plan import PlanStatus
from fourleaf.solver.process.client import SolverClient
from tests.solver.process import faulty_worker
from tests.solver.process.probes import LIMIT, WORKER
from tests.solver.process.stand_ins import snapshot, steps


def test_a_hung_load_counts_against_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the grace the time limit runs: the greedy plan comes while the child still loads."""
    monkeypatch.setenv(faulty_worker.LOAD_FAULT, "hang")
    monkeypatch.setattr(plan_input, "LOADING_SECONDS", 0.1)
    with SolverClient(WORKER, steps()) as client, capture_logs() as logs:
        plan = plan_input.planned(client, snapshot("a", "b", limit=LIMIT))
    assert plan.status is PlanStatus.GREEDY
    assert len(plan.placements) == 2
    assert [log["why"] for log in logs] == ["it is still loading"]
