"""Leaving out places that no best plan needs: the optimum stays, and places do go."""

import pytest

from benchmarks.solve.instances import snapshots
from fourleaf.model.plan import PlanStatus
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.fabric_shape import Shape
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.cpsat import dominance
from fourleaf.solver.cpsat.program import Program

NEVER = 10**9


def solved(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, worthwhile: int) -> tuple[int, int]:
    """The objective, and how many variables the whole solve made."""
    made = 0
    variable = Program.variable

    def counted(program: Program, most: int) -> int:
        nonlocal made
        made += 1
        return variable(program, most)

    with monkeypatch.context() as patch:
        patch.setattr(dominance, "QUIET_PLACES_PER_RIVAL", worthwhile)
        patch.setattr(Program, "variable", counted)
        plan = solve(snapshot)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    return plan.objective, made


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_stays(monkeypatch: pytest.MonkeyPatch, seed: int, parts: bool) -> None:
    """Eight gangs on 160 nodes score the same with every place and with the needed ones."""
    _, snapshot = snapshots(seed, Shape.regular(160), 8, parts)
    every, _ = solved(snapshot, monkeypatch, NEVER)
    needed, _ = solved(snapshot, monkeypatch, 0)
    assert needed == every


def test_places_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few gangs below a node on many part-used nodes, most of their places go."""
    _, snapshot = snapshots(3, Shape.regular(400), 10, True)
    _, every = solved(snapshot, monkeypatch, NEVER)
    _, needed = solved(snapshot, monkeypatch, 0)
    assert needed < 0.8 * every
