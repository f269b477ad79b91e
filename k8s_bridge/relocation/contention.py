"""Gangs that wait only because others are where they could be."""

from __future__ import annotations

from collections.abc import Container

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.solver.instance.gang_classes import gang_order

CONTENTION_REASONS = frozenset(
    {
        ReasonKind.NO_FREE_CAPACITY,
        ReasonKind.NO_ADJACENT_LEAVES,
        ReasonKind.UPLINK_FULL,
        ReasonKind.OUTRANKED,
    }
)
"""Reasons that the end of others would do away with."""
STUCK_REASONS = CONTENTION_REASONS | {ReasonKind.BOUND_ELSEWHERE}
"""Why a cycle may not find a place for members beside the others of their gang."""


def crowded_gangs(plan: Plan) -> frozenset[GangKey]:
    """The gangs that wait in `plan` for such a reason."""
    return frozenset(one.gang for one in plan.waiting if one.reason.kind in CONTENTION_REASONS)


def beyond_quota(plan: Plan) -> frozenset[GangKey]:
    """The gangs that wait in `plan` for the quota of their namespace."""
    return frozenset(
        one.gang for one in plan.waiting if one.reason.kind is ReasonKind.QUOTA_EXCEEDED
    )


def crowded_now(plan: Plan, view: ClusterView, taken: Container[GangKey]) -> list[Gang]:
    """Those that are crowded and wait still, first to last, but for the gangs `taken`."""
    return waiting_now(crowded_gangs(plan), view, taken)


def waiting_now(
    keys: Container[GangKey], view: ClusterView, taken: Container[GangKey]
) -> list[Gang]:
    """Those of these that wait still, as planned first to last, but for the gangs `taken`."""
    gangs = (gang for key, gang in view.gangs.items() if key in keys and key not in taken)
    return sorted((gang for gang in gangs if gang.hold is None), key=gang_order)
