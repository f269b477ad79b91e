"""What must not change, or only in one direction, when an instance is changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.relocation import RepairPlan
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.relocation.preempt import preempt
from fourleaf.solver.relocation.repair import repair
from tests.relocations import standing_snapshot

SEEDS = range(5000, 5080)


def solved(snapshot: Snapshot) -> RepairPlan:
    """The repair, which is found and proven."""
    plan = repair(snapshot)
    assert plan is not None
    assert plan.proven
    return plan


def worth(snapshot: Snapshot, plan: RepairPlan) -> tuple[list[int], int]:
    """Weight kept alive by priority, and the price of the moves."""
    alive = {placement.gang for placement in plan.placements}
    tiers = sorted({one.gang.priority for one in snapshot.standing}, reverse=True)
    kept = [
        sum(
            one.gang.weight
            for one in snapshot.standing
            if one.gang.key in alive and one.gang.priority == tier
        )
        for tier in tiers
    ]
    return kept, -plan.cost


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_gangs_does_not_matter(seed: int) -> None:
    """Gangs and pods in another order are worth the same."""
    snapshot = standing_snapshot(seed)
    turned = replace(snapshot, standing=snapshot.standing[::-1], running=snapshot.running[::-1])
    assert worth(turned, solved(turned)) == worth(snapshot, solved(snapshot))


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_dearer_moves_change_nobody(seed: int) -> None:
    """With every price doubled the same is kept alive, for exactly twice the price."""
    snapshot = standing_snapshot(seed)
    dearer = tuple(replace(one, move_cost=2 * one.move_cost) for one in snapshot.standing)
    kept, price = worth(snapshot, solved(snapshot))
    dear = replace(snapshot, standing=dearer)
    assert worth(dear, solved(dear)) == (kept, 2 * price)


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_more_freedom_never_hurts(seed: int) -> None:
    """Where every gang may move anywhere, no less is kept alive."""
    snapshot = standing_snapshot(seed)
    active = (RepairPolicy.PATCH, RepairPolicy.SHIFT, RepairPolicy.MOVE)
    freed = tuple(
        replace(
            one,
            movable=True,
            policy=RepairPolicy.MOVE if one.policy in active else one.policy,
        )
        for one in snapshot.standing
    )
    free = replace(snapshot, standing=freed)
    assert worth(free, solved(free))[0] >= worth(snapshot, solved(snapshot))[0]


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_repaired_is_whole(seed: int) -> None:
    """Once the plan is carried out, a repair of what is left finds nothing more to do."""
    snapshot = standing_snapshot(seed)
    plan = solved(snapshot)
    targets = {(move.namespace, move.pod): move.target for move in plan.moves}
    seats = {
        (placement.gang.namespace, pod): node
        for placement in plan.placements
        for pod, node in placement.pods
    }
    standing = tuple(_carried_out(one, targets, seats) for one in snapshot.standing)
    running = [
        replace(pod, node=targets.get((pod.namespace, pod.name), pod.node))
        for pod in snapshot.running
    ]
    known = {(pod.namespace, pod.name) for pod in running}
    running += [
        RunningPod(
            one.gang.key.namespace,
            pod,
            node,
            role.request,
            one.gang.key,
            bandwidth=one.gang.bandwidth,
        )
        for one in standing
        for role in one.gang.roles
        for pod, node in role.bound
        if (one.gang.key.namespace, pod) not in known
    ]
    again = solved(replace(snapshot, standing=standing, running=tuple(running)))
    assert again.moves == ()
    assert again.placements == ()
    assert [entry.gang for entry in again.lost] == [entry.gang for entry in plan.lost]


def _carried_out(
    one: StandingGang,
    targets: dict[tuple[str, str], str],
    seats: dict[tuple[str, str], str],
) -> StandingGang:
    namespace = one.gang.key.namespace
    roles = tuple(
        replace(
            role,
            bound=(
                *((pod, targets.get((namespace, pod), node)) for pod, node in role.bound),
                *((pod, seats[namespace, pod]) for pod in role.pods if (namespace, pod) in seats),
            ),
            pods=tuple(pod for pod in role.pods if (namespace, pod) not in seats),
        )
        for role in one.gang.roles
    )
    return replace(one, gang=replace(one.gang, roles=roles))


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_without_its_victims_the_gang_fits(seed: int) -> None:
    """Once the victims are gone, nobody else has to go."""
    snapshot = standing_snapshot(seed, waiting=1)
    gang = replace(snapshot.gangs[0], priority=9)
    snapshot = replace(snapshot, gangs=(gang,))
    plan = preempt(snapshot, gang.key)
    assert plan is not None
    gone = {(victim.gang.namespace, pod) for victim in plan.victims for pod, _ in victim.pods}
    keys = {victim.gang for victim in plan.victims}
    after = replace(
        snapshot,
        running=tuple(p for p in snapshot.running if (p.namespace, p.name) not in gone),
        standing=tuple(one for one in snapshot.standing if one.gang.key not in keys),
    )
    again = preempt(after, gang.key)
    assert again is not None
    assert again.victims == ()
    assert (again.placement is None) == (plan.placement is None)
