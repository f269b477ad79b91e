"""The solver finds what brute force finds: who, then where, on thousands of tiny instances."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings

from fourleaf.model.plan import PlanStatus
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import validate, who_values
from fourleaf.solver.batch.solve import solve
from tests.instances import random_snapshot, snapshots
from tests.oracle.brute import Brute
from tests.oracle.seating import TooManyError
from tests.pressed import PRODUCT, pressed_snapshot
from tests.seeds import FIRST_SEED

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


@pytest.mark.no_cover
@pytest.mark.parametrize("block", range(BLOCKS))
def test_seeded_instances(block: int) -> None:
    """On each of a hundred seeds the plan is proven, legal, and worth exactly the optimum.

    Every third has scarce uplinks and more than one product of GPU.
    """
    first = FIRST_SEED + block * PER_BLOCK
    compared = 0
    for seed in range(first, first + PER_BLOCK):
        make = random_snapshot if seed % 3 else pressed_snapshot
        try:
            compared += equals_brute_force(make(seed))
        except AssertionError as wrong:
            raise AssertionError(f"{make.__name__}({seed}): {wrong}") from wrong
    assert compared >= PER_BLOCK - (4 if FIRST_SEED == 0 else 10)


def test_scarce_uplinks_and_products_decide_plans() -> None:
    """Of sixty such instances each of the two laws changes at least five plans."""
    uplinks = products = 0
    for seed in range(0, 180, 3):
        snapshot = pressed_snapshot(seed)
        worth = outcome(snapshot)
        uplinks += outcome(without_uplinks(snapshot)) != worth
        products += outcome(without_products(snapshot)) != worth
    assert min(uplinks, products) >= 5, (uplinks, products)


def outcome(snapshot: Snapshot) -> tuple[dict[int, int], int]:
    """What the plan places, and what it is worth."""
    plan = solve(snapshot)
    assert plan is not None
    return who_values(snapshot, plan), plan.objective


def without_uplinks(snapshot: Snapshot) -> Snapshot:
    """The same where every uplink carries whatever crosses it."""
    leaves = tuple(replace(leaf, uplink=10**6) for leaf in snapshot.fabric.leaves)
    return replace(snapshot, fabric=replace(snapshot.fabric, leaves=leaves))


def without_products(snapshot: Snapshot) -> Snapshot:
    """The same where no gang asks for a product."""
    gangs = tuple(
        replace(
            gang,
            roles=tuple(
                replace(
                    role,
                    constraint=replace(
                        role.constraint,
                        selector=tuple(p for p in role.constraint.selector if p[0] != PRODUCT),
                    ),
                )
                for role in gang.roles
            ),
        )
        for gang in snapshot.gangs
    )
    return replace(snapshot, gangs=gangs)


@settings(max_examples=100, deadline=None)
@given(snapshots())
def test_generated_instances(snapshot: Snapshot) -> None:
    """The same on instances that Hypothesis makes, so that a failure shrinks."""
    assume(equals_brute_force(snapshot))
