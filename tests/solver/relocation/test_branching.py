"""Repairs by branch and cut, which CP-SAT has no time for: the same as by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fourleaf.model.relocation import RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch import place_gangs
from fourleaf.solver.cpsat.branch_and_cut import branch_and_cut
from fourleaf.solver.cpsat.program import Program, SolveResult
from fourleaf.solver.relocation import repair as module
from fourleaf.solver.relocation import stages
from fourleaf.solver.relocation.place import MovingGang, SettledGangs
from fourleaf.solver.relocation.repair import repair
from tests.instances import with_few_window_nodes
from tests.relocations import standing_snapshot
from tests.solver.relocation.test_equals_brute_force import repair_is_best

SEEDS = 60
WHERE_SEEDS = 20

Calls = list[str]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """All goes to branch and cut, and who has asked it."""
    calls: Calls = []

    def asked(by: str) -> Callable[..., SolveResult | None]:
        def ask(program: Program, costs: Sequence[int], *rest: float) -> SolveResult | None:
            calls.append(by)
            return branch_and_cut(program, costs, *rest)

        return ask

    monkeypatch.setattr(stages, "FIRST_WORK", 0.0)
    monkeypatch.setattr(stages, "branch_and_cut", asked("moves"))
    monkeypatch.setattr(place_gangs, "BRANCHING_VARIABLES", 0)
    monkeypatch.setattr(place_gangs, "branch_and_cut", asked("where"))
    return calls


def test_the_fewest_moves(calls: Calls) -> None:
    """Of so many seeds, each repair that the oracle can enumerate is proven, legal and cheapest."""
    compared = sum(repair_is_best(seed) for seed in range(SEEDS))
    assert compared >= SEEDS - 4
    assert calls.count("moves") > compared / 2
    assert calls.count("where") > compared / 3


def test_the_best_places(calls: Calls) -> None:
    """The places are worth as much as those that CP-SAT proves to be the best."""
    found = [_exact(seed) for seed in range(WHERE_SEEDS)]
    assert calls.count("where") > WHERE_SEEDS / 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place_gangs, "BRANCHING_VARIABLES", 10**9)
        calls.clear()
        expected = [_exact(seed) for seed in range(WHERE_SEEDS)]
        assert "where" not in calls
    pairs = list(zip(found, expected, strict=True))
    assert all(a.proven and b.proven for a, b in pairs)
    # Of repairs that cost the same, each may move others.
    same = [(a, b) for a, b in pairs if a.moves == b.moves]
    assert len(same) > WHERE_SEEDS / 2
    assert [a.objective for a, _ in same] == [b.objective for _, b in same]


def test_what_it_cannot_say_is_left_to_cp_sat(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HiGHS fails each time, and the repairs are proven and cheapest all the same."""
    monkeypatch.setattr(stages, "branch_and_cut", lambda *_: calls.append("failed"))
    assert sum(repair_is_best(seed) for seed in range(20)) >= 16
    assert "failed" in calls


def test_gangs_that_stay_have_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gang that is given places has a pod that moves or was lost."""
    tasks: list[MovingGang] = []

    def place(*given: Any) -> SettledGangs:
        tasks.extend(given[2])
        return settle(*given)

    settle = module.place
    monkeypatch.setattr(module, "place", place)
    for seed in range(SEEDS):
        repair(with_few_window_nodes(standing_snapshot(seed), seed))
    assert len(tasks) > SEEDS / 2
    assert all(any(role.pods for role in task.gang.roles) for task in tasks)


def _exact(seed: int) -> RepairPlan:
    plan = repair(_to_the_end(with_few_window_nodes(standing_snapshot(seed), seed)))
    assert plan is not None
    return plan


def _to_the_end(snapshot: Snapshot) -> Snapshot:
    """With the whole proof asked for."""
    spec = snapshot.config.spec
    solver = spec.solver.model_copy(update={"gap": 0.0})
    whole = spec.model_copy(update={"solver": solver})
    return replace(snapshot, config=snapshot.config.model_copy(update={"spec": whole}))
