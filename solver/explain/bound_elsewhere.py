"""`BoundElsewhere`: members that run already stand where no legal place can include them."""

from __future__ import annotations

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.too_large import PREFERRED
from fourleaf.solver.instance.candidates import Takes
from fourleaf.solver.instance.gang_classes import GangGroup


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
    steps.append(f"evict {matching_advice.named(_fewest_strays(context, group))}")
    hosts = dict.fromkeys(host for _, host in _bound(gang))
    detail = f"on {matching_advice.named(list(hosts))}"
    return Reason(ReasonKind.BOUND_ELSEWHERE, detail, counts, unblock=tuple(steps))


def _fewest_strays(context: Context, group: GangGroup) -> list[str]:
    """Bound members to evict so that some candidate admits the others, as few as can be.

    All of them where their numbers are no hindrance: then it is their nodes that are.
    """
    best: list[str] | None = None
    for place in group.candidates.required:
        strays = _strays(context, group.gang, place.takes)
        if best is None or len(strays) < len(best):
            best = strays
    return best or [f"{pod} on {host}" for pod, host in _bound(group.gang)]


def _bound(gang: Gang) -> list[tuple[str, str]]:
    return [pair for role in gang.roles for pair in role.bound]


def _strays(context: Context, gang: Gang, takes: Takes) -> list[str]:
    fabric = context.fabric
    left = {leaf: list(counts) for leaf, counts in takes}
    strays = []
    for number, role in enumerate(gang.roles):
        for pod, host in role.bound:
            node = fabric.index.get(host)
            here = None if node is None else left.get(fabric.leaf_of[node])
            if here is None or not here[number]:
                strays.append(f"{pod} on {host}")
            else:
                here[number] -= 1
    return strays
