"""Repair, preemption and defragmentation find what brute force finds, on tiny instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.gang import Gang
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import defrag_breaches, preemption_breaches, repair_breaches
from fourleaf.solver.relocation.defragment import defragment
from fourleaf.solver.relocation.preempt import preempt
from fourleaf.solver.relocation.repair import repair
from tests.instances import with_few_window_nodes
from tests.oracle.moving import NOTHING, Worth, best_defrag, best_repair, best_victims
from tests.oracle.packing import Packing
from tests.oracle.seating import TooManyError
from tests.relocations import standing_snapshot

BLOCKS = 12
PER_BLOCK = 100
BUDGET = 100_000
"""Steps of the oracle per question; where it needs more, the instance is left out."""

SEEDS = [range(block * PER_BLOCK, (block + 1) * PER_BLOCK) for block in range(BLOCKS)]

Change = Callable[[Snapshot, int], Snapshot]
"""What is done to the snapshot of a seed before it is solved."""


def repaired(snapshot: Snapshot, plan: RepairPlan) -> Worth:
    """What a repair is worth in the oracle's terms, counted from its placements and moves."""
    alive = {placement.gang for placement in plan.placements}
    tiers = sorted({one.gang.priority for one in snapshot.standing}, reverse=True)
    values = [
        sum(
            one.gang.weight
            for one in snapshot.standing
            if one.gang.key in alive and one.gang.priority == tier
        )
        for tier in tiers
    ]
    prices = {
        (one.gang.key.namespace, pod): one.move_cost
        for one in snapshot.standing
        for role in one.gang.roles
        for pod, _ in role.bound
    }
    return (*values, -sum(prices[move.namespace, move.pod] for move in plan.moves))


def evicted(snapshot: Snapshot, gang: Gang, plan: PreemptionPlan) -> Worth | None:
    """What the victims of a plan cost in the oracle's terms."""
    if plan.placement is None:
        return None
    tiers = sorted(
        {
            one.gang.priority
            for one in snapshot.standing
            if one.preemptible
            and one.gang.priority < gang.priority
            and any(role.bound for role in one.gang.roles)
        },
        reverse=True,
    )
    counts = [-sum(victim.priority == tier for victim in plan.victims) for tier in tiers]
    return (*counts, -sum(victim.cost for victim in plan.victims))


def defragmented(snapshot: Snapshot, plan: DefragPlan) -> Worth:
    """What a defragmentation is worth in the oracle's terms."""
    if not snapshot.gangs:
        packing = Packing(snapshot, NOTHING)
        free = snapshot.moved(plan.moves).free
        nodes = [node for leaf in snapshot.fabric.leaves for node in leaf.nodes]
        return packing.best(packing.free(tuple(free[node.name] for node in nodes))), -plan.cost
    spec, done = snapshot.config.spec, {placement.gang for placement in plan.placements}
    values = []
    for tier in sorted({gang.priority for gang in snapshot.gangs}, reverse=True):
        gangs = [g for g in snapshot.gangs if g.priority == tier and g.key in done]
        values.append(sum(placed_value(g, age_step(spec, snapshot.now, g.created)) for g in gangs))
    return (*values, -plan.cost)


def repair_is_best(seed: int, change: Change = with_few_window_nodes) -> bool:
    """Compare one repair; False where it is too large for the oracle."""
    snapshot = change(standing_snapshot(seed), seed)
    try:
        best = best_repair(snapshot, BUDGET)
    except TooManyError:
        return False
    plan = repair(snapshot)
    assert plan is not None
    assert plan.proven
    assert [str(breach) for breach in repair_breaches(snapshot, plan)] == []
    assert repaired(snapshot, plan) == best
    return True


def victims_are_fewest(seed: int, change: Change = with_few_window_nodes) -> bool:
    """Compare one preemption; False where it is too large for the oracle."""
    snapshot = standing_snapshot(seed, dead=seed % 3 == 0, waiting=1)
    gang = replace(snapshot.gangs[0], priority=(3, 9)[seed % 2])
    snapshot = change(replace(snapshot, gangs=(gang,)), seed)
    try:
        best = best_victims(snapshot, gang, BUDGET)
    except TooManyError:
        return False
    plan = preempt(snapshot, gang.key)
    assert plan is not None
    assert plan.proven
    assert [str(breach) for breach in preemption_breaches(snapshot, plan)] == []
    assert evicted(snapshot, gang, plan) == best
    return True


def defrag_is_best(seed: int, change: Change = with_few_window_nodes) -> bool:
    """Compare one defragmentation; False where it is too large for the oracle."""
    snapshot = standing_snapshot(seed, dead=False, waiting=(0, 1, 2)[seed % 3], movable=0.95)
    snapshot, budget = change(snapshot, seed), Budget(pods=seed % 5)
    try:
        best = best_defrag(snapshot, budget.pods, BUDGET)
    except TooManyError:
        return False
    plan = defragment(snapshot, budget)
    assert plan is not None
    assert plan.proven
    assert [str(breach) for breach in defrag_breaches(snapshot, plan, budget)] == []
    assert defragmented(snapshot, plan) == best
    return True


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "compare", [repair_is_best, victims_are_fewest, defrag_is_best], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: str(seeds.start))
def test_seeded_instances(compare: object, seeds: range) -> None:
    """On each of a hundred seeds the plan is proven, legal, and worth exactly the optimum."""
    assert callable(compare)
    compared = 0
    for seed in seeds:
        try:
            compared += compare(seed)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong
    assert compared >= PER_BLOCK - 4
