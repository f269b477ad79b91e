"""Every law that a defragmentation breaks, found without the solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from fourleaf.model.extensions import Extensions
from fourleaf.model.free_leaves import free_room
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement
from fourleaf.model.relocation import Budget, DefragPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.batch import batch_of
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.cross_gang_laws import quota_breaches
from fourleaf.model.validator.evictions import eviction_breaches
from fourleaf.model.validator.recompute import NOTHING, points
from fourleaf.model.validator.relocated_gangs import (
    Moved,
    cost_of,
    move_breaches,
    place_breaches,
    standing_of,
)
from fourleaf.model.validator.seats import member_breaches
from fourleaf.model.validator.strategies import by_itself
from fourleaf.model.validator.terms import term_breaches
from fourleaf.model.weights import weights_of


def defrag_breaches(
    snapshot: Snapshot, plan: DefragPlan, budget: Budget, extensions: Extensions = NOTHING
) -> tuple[Breach, ...]:
    """Every breach of `docs/model.md`, section 8, in a defragmentation; empty where it is legal."""
    moved = Moved(standing_of(snapshot))
    may = {
        key: "" if one.movable and not one.hit else "its gang may not be moved"
        for key, one in moved.standing.items()
    }
    gangs = {gang.key: gang for gang in snapshot.gangs}
    found = list(_accounting(plan, gangs))
    found += move_breaches(snapshot, plan.moves, moved, may)
    placed: list[tuple[Gang, Placement]] = []
    batch = batch_of(snapshot)
    for placement in plan.placements:
        gang = gangs.get(placement.gang)
        if gang is None:
            continue
        if gang.key not in batch:
            found.append(Breach(Law.BATCH, gang.key, "", "is placed but not in the batch"))
        wrong = member_breaches(snapshot, gang, placement)
        found += wrong
        if not wrong:
            placed.append((gang, placement))
    found += eviction_breaches(snapshot, (), moved.targets)
    after = moved.after(snapshot)
    breaches, looked_at = place_breaches(after, moved, placed, extensions)
    found += breaches
    found += quota_breaches(snapshot, looked_at[: len(placed)])
    for (gang, placement), one in zip(placed, looked_at, strict=False):
        earned = points(after, by_itself(one), weights_of(snapshot.config.spec, gang), extensions)
        found += term_breaches(placement, earned)
    found += _budget_breaches(plan, budget, cost_of(moved))
    found += _room_breaches(snapshot, plan)
    return tuple(found)


def _accounting(plan: DefragPlan, gangs: dict[GangKey, Gang]) -> Iterator[Breach]:
    placed = Counter(placement.gang for placement in plan.placements)
    waiting = Counter(entry.gang for entry in plan.waiting)
    for key in sorted({*placed, *waiting} | gangs.keys()):
        if key not in gangs:
            yield Breach(Law.KNOWN, key, "", "is no gang of the snapshot")
        elif placed[key] + waiting[key] != 1:
            detail = f"is placed {placed[key]} times and waits {waiting[key]} times"
            yield Breach(Law.ACCOUNTED, key, "", detail)


def _budget_breaches(plan: DefragPlan, budget: Budget, cost: int) -> Iterator[Breach]:
    if len(plan.moves) > budget.pods:
        detail = f"{len(plan.moves)} pods move, the most is {budget.pods}"
        yield Breach(Law.BUDGET, None, "pods", detail)
    if budget.cost is not None and cost > budget.cost:
        yield Breach(Law.BUDGET, None, "cost", f"costs {cost}, the most is {budget.cost}")
    if cost != plan.cost:
        yield Breach(Law.OBJECTIVE, None, "", f"says it costs {plan.cost}, it is {cost}")


def _room_breaches(snapshot: Snapshot, plan: DefragPlan) -> Iterator[Breach]:
    targets = {(move.namespace, move.pod): move.target for move in plan.moves}
    running = tuple(
        replace(pod, node=targets.get((pod.namespace, pod.name), pod.node))
        for pod in snapshot.running
    )
    for name, said, world in (
        ("before", plan.before, snapshot),
        ("after", plan.after, replace(snapshot, running=running)),
    ):
        if said != (true := free_room(world)):
            yield Breach(Law.OBJECTIVE, None, name, f"says {said}, it is {true}")
