"""Victims where a quota is short are those that brute force finds, on tiny instances."""

from __future__ import annotations

import random
from dataclasses import replace

from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import preemption_breaches
from fourleaf.solver.relocation.preempt import preempt
from tests.oracle.moving import best_victims
from tests.oracle.seating import TooManyError
from tests.relocations import standing_snapshot
from tests.solver.relocation.test_equals_brute_force import evicted

SEEDS = 150
BUDGET = 50_000


def short_of_quota(snapshot: Snapshot, seed: int) -> Snapshot:
    """The same with every third gang in another namespace, and a quota that is about used up."""
    dice = random.Random(seed)  # noqa: S311
    away = {one.gang.key for one in snapshot.standing if dice.random() < 0.4}
    standing = tuple(
        replace(one, gang=replace(one.gang, key=GangKey("ops", one.gang.key.name)))
        if one.gang.key in away
        else one
        for one in snapshot.standing
    )
    running = tuple(
        replace(pod, namespace="ops", gang=GangKey("ops", pod.gang.name))
        if pod.gang is not None and pod.gang in away
        else pod
        for pod in snapshot.running
    )
    used = sum(pod.request.gpus for pod in running if pod.namespace == "ml")
    namespaces = {"ml": {"gpuQuota": max(0, used + dice.randint(-1, 3))}}
    spec = snapshot.config.spec.model_dump(mode="json", by_alias=True) | {"namespaces": namespaces}
    config = type(snapshot.config).model_validate({"spec": spec})
    return replace(snapshot, standing=standing, running=running, config=config)


def test_victims_within_a_quota() -> None:
    """Fewest victims; of seeds in which the quota alone is short none of another namespace goes."""
    compared = within = 0
    for seed in range(SEEDS):
        snapshot = standing_snapshot(seed, dead=False, waiting=1)
        gang = replace(snapshot.gangs[0], priority=9)
        free = replace(snapshot, gangs=(gang,))
        snapshot = short_of_quota(free, seed)
        try:
            best = best_victims(snapshot, gang, BUDGET)
        except TooManyError:
            continue
        plan = preempt(snapshot, gang.key)
        assert plan is not None
        assert plan.proven
        assert [str(one) for one in preemption_breaches(snapshot, plan)] == []
        assert evicted(snapshot, gang, plan) == best, seed
        compared += 1
        alone = preempt(free, gang.key)
        if plan.victims and alone is not None and alone.placement and not alone.victims:
            within += 1
            # Where it has room, those of other namespaces may only ever be in its way by laws.
            assert all(one.gang.namespace == "ml" for one in plan.victims), seed
    assert compared > SEEDS // 2
    assert within >= 5
