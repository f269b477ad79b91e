"""From nodes to a plan, for policies that score nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import Snapshot

NOT_FOUND = Reason(ReasonKind.NO_FREE_CAPACITY)
"""What a baseline says of every gang that it does not place."""


def plan_of(snapshot: Snapshot, placed: Mapping[GangKey, Sequence[str]]) -> Plan:
    """The plan that puts the pods of these gangs on nodes, in rank order; the rest waits."""
    placements = tuple(
        Placement(gang.key, tuple(zip(names(gang), placed[gang.key], strict=True)))
        for gang in snapshot.gangs
        if gang.key in placed
    )
    waiting = tuple(
        Waiting(gang.key, NOT_FOUND) for gang in snapshot.gangs if gang.key not in placed
    )
    return Plan(PlanStatus.GREEDY, placements, waiting)


def names(gang: Gang) -> list[str]:
    """The pods of a gang that are to be placed, in rank order."""
    return [pod for role in gang.roles for pod in role.pods]
