"""Leaves whose numbers do not fit their nodes are refined, with most of the rest held."""

from __future__ import annotations

import pytest

from fourleaf.model.relocation import RepairPlan
from fourleaf.solver.relocation import stages
from fourleaf.solver.relocation.repair import repair
from fourleaf.solver.relocation.stages import StageOutcome
from tests.relocations import standing_snapshot

MISFITS = (41, 151, 398, 414, 441, 508, 515)
"""Seeds on which the first, coarse model cannot be put on the nodes."""


def worth(plan: RepairPlan | None) -> tuple[bool, int, int]:
    """Whether the plan is proven, how many gangs live, and what the moves cost."""
    assert plan is not None
    return plan.proven, len(plan.placements), plan.cost


@pytest.mark.parametrize("seed", MISFITS)
def test_holding_most_loses_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With most of the first answer held the optimum is found, as it is by starting afresh."""
    snapshot = standing_snapshot(seed)
    found: list[StageOutcome | None] = []
    real = stages._nearby

    def spy(*arguments: object) -> StageOutcome | None:
        found.append(real(*arguments))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(stages, "_nearby", spy)
    held = worth(repair(snapshot))
    assert any(found)
    monkeypatch.setattr(stages, "_nearby", lambda *_: None)
    assert worth(repair(snapshot)) == held
    assert held[0]
