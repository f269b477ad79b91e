"""`BoundElsewhere`: members that run already stand where no legal place can include them."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.reasons.text import cause
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.blockers import STARTS_WHEN
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.no_room_now import PREFERRED_NOW, SLACK_NOW, NoRoomNow
from fourleaf.solver.explain.too_large import PREFERRED
from fourleaf.solver.instance.candidates import Takes
from fourleaf.solver.instance.gang_classes import GangGroup

BY_ITS_REPAIR = "let its repair move others of it, as repair-policy move does"
"""Where gangs are repaired, one of that policy needs no eviction by hand."""

MOST_TRIED = 4
"""Sets of members whose eviction is tried out, those of the fewest members first."""

_TO_DO = {PREFERRED_NOW: PREFERRED, SLACK_NOW: "set topology.windowSlack: 1"}
"""Advice that says what a setting would come to -> to make that setting."""

Seats = tuple[tuple[str, str], ...]
"""Members that run already, each with its node."""


def bound_elsewhere(
    context: Context, group: GangGroup, as_preferred: GangGroup | None
) -> Reason | None:
    """The reason where even the empty fabric has no place for the rest beside the bound members."""
    if not group.bound:
        return None
    alone = context.but_for(group.gang)
    if alone.finds(group):
        return None
    gang = group.gang
    counts = (("bound", len(_bound(gang))), ("needed", sum(len(role.pods) for role in gang.roles)))
    steps = []
    if as_preferred is not None and alone.finds(as_preferred):
        steps.append(PREFERRED)
    first, evict = _eviction(context, group)
    if not context.spec.repair.enabled:
        steps.append(f"{first}{evict}")
    elif first:
        steps.append(f"{first}{BY_ITS_REPAIR}, or {evict}")
    else:
        steps = [BY_ITS_REPAIR, *steps, evict]
    hosts = dict.fromkeys(host for _, host in _bound(gang))
    detail = f"on {matching_advice.named(list(hosts))}"
    return Reason(ReasonKind.BOUND_ELSEWHERE, detail, counts, unblock=tuple(steps))


def _eviction(context: Context, group: GangGroup) -> tuple[str, str]:
    """What has to come first, "" where all would find a place now, and members to evict for it.

    Evicted before there is one, members that run now would only wait with the others.
    """
    first: tuple[str, str] | None = None
    for strays in _choices_of_strays(context, group)[:MOST_TRIED]:
        later, gang = _without(context, group.gang, strays)
        evict = f"evict {matching_advice.named([f'{pod} on {host}' for pod, host in strays])}"
        busy = NoRoomNow(later, later.factory.of(gang))
        if busy.fits_after:
            return "", evict
        first = first or (f"{comes_first(busy.reason(gang))}, and then ", evict)
    return first or ("", "")


def comes_first(then: Reason) -> str:
    """What has to come before an eviction after which `then` would be why the gang waits."""
    if not then.unblock:
        return f"wait for a place, as there is none now ({cause(then)})"
    step = _TO_DO.get(then.unblock[0], then.unblock[0])
    return f"wait until {step.removeprefix(STARTS_WHEN)}" if step.startswith(STARTS_WHEN) else step


def _without(context: Context, gang: Gang, strays: Seats) -> tuple[Context, Gang]:
    """The same plan once `strays` are evicted and wait with the rest of their gang."""
    gone = frozenset(strays)
    roles = tuple(
        replace(
            role,
            pods=(*role.pods, *(pod for pod, host in role.bound if (pod, host) in gone)),
            bound=tuple(seat for seat in role.bound if seat not in gone),
        )
        for role in gang.roles
    )
    less = replace(gang, roles=roles)
    snapshot = replace(
        context.snapshot,
        running=tuple(
            pod
            for pod in context.snapshot.running
            if pod.gang != gang.key or (pod.name, pod.node) not in gone
        ),
        gangs=tuple(less if one.key == gang.key else one for one in context.snapshot.gangs),
    )
    plan = replace(context.plan, moves=())
    return Context(snapshot, plan, context.fabric.extensions, context.factory), less


def _choices_of_strays(context: Context, group: GangGroup) -> list[Seats]:
    """Bound members to evict so that some candidate admits the others, the fewest first.

    All of them where their numbers are no hindrance: then it is their nodes that are.
    """
    places = group.candidates.required
    found = dict.fromkeys(_strays(context, group.gang, place.takes) for place in places)
    every = tuple(_bound(group.gang))
    return sorted(dict.fromkeys(one or every for one in found), key=len) or [every]


def _bound(gang: Gang) -> list[tuple[str, str]]:
    return [pair for role in gang.roles for pair in role.bound]


def _strays(context: Context, gang: Gang, takes: Takes) -> Seats:
    fabric = context.fabric
    left = {leaf: list(counts) for leaf, counts in takes}
    strays = []
    for number, role in enumerate(gang.roles):
        for pod, host in role.bound:
            node = fabric.index.get(host)
            here = None if node is None else left.get(fabric.leaf_of[node])
            if here is None or not here[number]:
                strays.append((pod, host))
            else:
                here[number] -= 1
    return tuple(strays)
