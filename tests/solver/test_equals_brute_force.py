"""The solver finds what brute force finds: who, then where, on thousands of tiny instances."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from model.plan import PlanStatus
from model.snapshot import Snapshot
from model.validator import validate, who_values
from solver.batch import solve
from tests.instances import random_snapshot, snapshots
from tests.oracle.brute import Brute
from tests.oracle.seating import TooManyError

BLOCKS = 21
PER_BLOCK = 100
BUDGET = 60_000
"""Steps of the oracle per question; where it needs more, the instance is left out."""


def equals_brute_force(snapshot: Snapshot) -> bool:
    """Compare one instance; False where it is too large for the oracle."""
    oracle = Brute(snapshot, budget=BUDGET)
    try:
        who = oracle.best_who()
    except TooManyError:
        return False
    plan = solve(snapshot)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert [str(breach) for breach in validate(snapshot, plan)] == []
    values = {tier: value for tier, value in who_values(snapshot, plan).items() if value}
    assert values == who
    try:
        where = oracle.best_where({placement.gang for placement in plan.placements})
    except TooManyError:
        return False
    assert plan.objective == where
    return True


@pytest.mark.parametrize("block", range(BLOCKS))
def test_seeded_instances(block: int) -> None:
    """On each of a hundred seeds the plan is proven, legal, and worth exactly the optimum."""
    compared = 0
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        try:
            compared += equals_brute_force(random_snapshot(seed))
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong
    assert compared >= PER_BLOCK - 4


@settings(max_examples=100, deadline=None)
@given(snapshots())
def test_generated_instances(snapshot: Snapshot) -> None:
    """The same on instances that Hypothesis makes, so that a failure shrinks."""
    assume(equals_brute_force(snapshot))
