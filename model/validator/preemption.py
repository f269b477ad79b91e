"""Every law that a preemption plan breaks, found without the solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.cross_gang_laws import quota_breaches
from fourleaf.model.validator.evictions import eviction_breaches
from fourleaf.model.validator.recompute import NOTHING, points
from fourleaf.model.validator.relocated_gangs import Moved, live, place_breaches, standing_of
from fourleaf.model.validator.seats import member_breaches
from fourleaf.model.validator.strategies import by_itself
from fourleaf.model.validator.terms import term_breaches
from fourleaf.model.weights import weights_of


def preemption_breaches(
    snapshot: Snapshot, plan: PreemptionPlan, extensions: Extensions = NOTHING
) -> tuple[Breach, ...]:
    """Every breach of `docs/model.md`, section 8, in a preemption plan; empty where it is legal."""
    gang = next((one for one in snapshot.gangs if one.key == plan.gang), None)
    if gang is None:
        return (Breach(Law.KNOWN, plan.gang, "", "is no waiting gang"),)
    found = list(_victim_breaches(snapshot, plan, gang))
    if plan.placement is None:
        if plan.victims:
            found.append(Breach(Law.VICTIM, plan.gang, "", "evicts gangs and is not placed"))
        if plan.reason is None:
            found.append(Breach(Law.ACCOUNTED, plan.gang, "", "is not placed, without a reason"))
        return tuple(found)
    placement = plan.placement
    if placement.gang != gang.key:
        return (*found, Breach(Law.KNOWN, placement.gang, "", f"is placed for {gang.key}"))
    wrong = member_breaches(snapshot, gang, placement)
    if wrong:
        return (*found, *wrong)
    gone = {(victim.gang.namespace, pod) for victim in plan.victims for pod, _ in victim.pods}
    found += eviction_breaches(snapshot, gone, {})
    unmoved = Moved({})
    after = unmoved.after(snapshot, gone)
    breaches, placed = place_breaches(after, unmoved, [(gang, placement)], extensions)
    found += breaches
    found += quota_breaches(after, placed)
    earned = points(after, by_itself(placed[0]), weights_of(snapshot.config.spec, gang), extensions)
    found += term_breaches(placement, earned)
    return tuple(found)


def _victim_breaches(snapshot: Snapshot, plan: PreemptionPlan, gang: Gang) -> Iterator[Breach]:
    standing = standing_of(snapshot)
    for key, times in Counter(victim.gang for victim in plan.victims).items():
        if times > 1:
            yield Breach(Law.VICTIM, key, "", f"is evicted {times} times")
    for victim in plan.victims:
        one = standing.get(victim.gang)
        if one is None:
            yield Breach(Law.KNOWN, victim.gang, "", "is no standing gang")
            continue
        if not one.preemptible:
            yield Breach(Law.VICTIM, victim.gang, "", "may not be evicted")
        if one.gang.priority >= gang.priority or victim.priority != one.gang.priority:
            detail = (
                f"has priority {one.gang.priority} (said {victim.priority}), "
                f"{gang.key} has {gang.priority}"
            )
            yield Breach(Law.VICTIM, victim.gang, "", detail)
        if dict(victim.pods) != live(one) or len(victim.pods) != len(live(one)):
            yield Breach(Law.WHOLE, victim.gang, "", "is not evicted with all its live members")
        price = one.move_cost * len(live(one))
        if victim.cost != price:
            detail = f"says it costs {victim.cost}, it is {price}"
            yield Breach(Law.OBJECTIVE, victim.gang, "", detail)
