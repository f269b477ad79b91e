"""A gang whose own kept places have used up the quota of its namespace may start elsewhere."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.relocation.backfill import placed
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.records import Purpose
from fourleaf.k8s_bridge.relocation.reserved_seats import is_kept
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot


def within_own_quota(snapshot: Snapshot, plan: Plan, view: ClusterView) -> Snapshot | None:
    """What is to be solved again for the gang that waits longest so; None where none does.

    `snapshot` has the kept room as used, and `plan` was made for it. The second solve may use what
    is kept for this very gang, beside all that `plan` has placed: it cannot have both.
    """
    over = {one.gang for one in plan.waiting if one.reason.kind is ReasonKind.QUOTA_EXCEEDED}
    gangs = snapshot.gangs_by_key
    waits = [
        one
        for one in view.open
        if one.purpose is Purpose.RESERVATION and one.gang in over and one.gang in gangs
    ]
    if not waits:
        return None
    gang = gangs[min(waits, key=lambda one: (one.opened, one.gang)).gang]
    there = (pod for pod in snapshot.running if not (is_kept(pod) and pod.gang == gang.key))
    return replace(snapshot, running=(*there, *placed(snapshot, plan)), gangs=(gang,))
