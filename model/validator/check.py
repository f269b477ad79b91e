"""The validator: every breach of the laws of a plan, found without the solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.batch import batch_of
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.cross_gang_laws import (
    quota_breaches,
    room_breaches,
    taken_by,
    uplink_breaches,
)
from fourleaf.model.validator.devices import device_breaches
from fourleaf.model.validator.facts import facts_of
from fourleaf.model.validator.member_tally import Placed, stand
from fourleaf.model.validator.phantoms import phantom_breaches
from fourleaf.model.validator.recompute import NOTHING, points
from fourleaf.model.validator.seats import member_breaches, seat_breaches
from fourleaf.model.validator.strategies import PlacedBefore
from fourleaf.model.validator.terms import term_breaches
from fourleaf.model.weights import gang_weights


def validate(
    snapshot: Snapshot, plan: Plan, extensions: Extensions = NOTHING
) -> tuple[Breach, ...]:
    """Every breach of `docs/model.md`, section 5, in `plan`; empty where it is legal.

    Also recomputes the points of each placement and the objective. A gang whose members are
    wrong is not looked at further, and the objective is compared only where every placement
    and phantom could be valued. Costs a few milliseconds at 1000 nodes and 100 gangs once
    the fabric's static facts are there; they are kept for as long as the fabric object lives.
    """
    gangs = {gang.key: gang for gang in snapshot.gangs}
    found = list(_accounting(plan, gangs))
    facts = facts_of(snapshot.fabric)
    batch = batch_of(snapshot)
    # Once per strategy and sensitivity: they are exact fractions.
    weights = cache(partial(gang_weights, snapshot.config.spec))
    placed: list[Placed] = []
    before = PlacedBefore()
    worth = sum(phantom.value for phantom in plan.phantoms)
    complete = True
    for placement in plan.placements:
        gang = gangs.get(placement.gang)
        if gang is None:
            complete = False
            continue
        if gang.key not in batch:
            found.append(Breach(Law.BATCH, gang.key, "", "is placed but not in the batch"))
        wrong = member_breaches(snapshot, gang, placement)
        if wrong:
            found += wrong
            complete = False
            continue
        one = Placed(
            gang,
            stand(snapshot.fabric, gang, placement.pods),
            facts.of_gang(snapshot.config.spec, gang, extensions),
        )
        placed.append(one)
        found += seat_breaches(snapshot.fabric, one)
        weighs = weights(gang.strategy, gang.latency_sensitive)
        earned = points(snapshot, one, weighs, extensions, before)
        worth += sum(earned.values())
        found += term_breaches(placement, earned)
    taken = taken_by(placed)
    found += room_breaches(snapshot, taken)
    found += device_breaches(snapshot, placed)
    found += quota_breaches(snapshot, placed)
    found += uplink_breaches(snapshot, placed)
    found += phantom_breaches(snapshot, plan, facts, taken)
    if complete and worth != plan.objective:
        detail = f"says {plan.objective}, the placements and phantoms are worth {worth}"
        found.append(Breach(Law.OBJECTIVE, None, "", detail))
    return tuple(found)


def _accounting(plan: Plan, gangs: dict[GangKey, Gang]) -> Iterator[Breach]:
    """Every gang of the snapshot is placed or waits, exactly once; no others; nothing moves."""
    placed = Counter(placement.gang for placement in plan.placements)
    waiting = Counter(entry.gang for entry in plan.waiting)
    for key in gangs:
        if placed[key] + waiting[key] != 1:
            detail = f"is placed {placed[key]} times and waits {waiting[key]} times"
            yield Breach(Law.ACCOUNTED, key, "", detail)
    for key in sorted({*placed, *waiting} - gangs.keys()):
        yield Breach(Law.KNOWN, key, "", "is no gang of the snapshot")
    for move in plan.moves:
        subject = f"{move.namespace}/{move.pod}"
        yield Breach(Law.RUNNING, None, subject, "is moved, but a batch moves no pods")
