"""Why gangs that have lost members are not repaired, in the words that they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.scheduling.freed_room import OF_THE_ROOM
from fourleaf.model.readers.objects.annotations import REPAIR_POLICY
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.running_gang import EvictionLimit, RepairPolicy, forbidden_by

WAITS = Reason(
    ReasonKind.MEMBERS_MISSING,
    "members are on nodes that are dead, and its repair policy is to wait for these",
    unblock=(f"set {REPAIR_POLICY} to {RepairPolicy.MOVE}, or bring these nodes back",),
)
BARE = Reason(
    ReasonKind.UNSUPPORTED,
    "a member that would have to move has no controller that would make it anew",
    unblock=("delete the pod yourself, or let it end",),
)

LARGE = "its repair has no room in a record"
"""How the reason of a gang begins that no record is large enough for."""

ENTANGLED = Reason(
    ReasonKind.NO_FREE_CAPACITY,
    "places: those that it could take are free only once it has left, or gangs that wait for it",
    unblock=("free other nodes, or end one of these gangs",),
)

FOR_ROOM = OF_THE_ROOM | {ReasonKind.NOT_PROVEN}
"""Reasons that room may take away."""


def with_limits(plan: RepairPlan, own: Sequence[EvictionLimit]) -> RepairPlan:
    """`plan`, in which gangs that no limit of their own pods keeps back name `own`."""
    return replace(
        plan,
        lost=tuple(
            replace(one, reason=forbidden_by(own))
            if own and one.reason.kind is ReasonKind.EVICTIONS_FORBIDDEN and not one.reason.detail
            else one
            for one in plan.lost
        ),
    )
