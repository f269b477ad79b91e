"""A gang whose own kept places take its room, or use up its quota, may start elsewhere."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import CONTENTION_REASONS
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.relocation.reserved_seats import is_kept
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import counted, fits
from fourleaf.model.snapshot import Snapshot, placed


def within_own_room(
    snapshot: Snapshot, plan: Plan, view: ClusterView, asked: Container[GangKey]
) -> Snapshot | None:
    """What is to be solved again for the gang that waits longest so; None where none does.

    `snapshot` has the kept room as used, and `plan` was made for it. The second solve may use what
    is kept for this very gang, beside all that `plan` has placed: it cannot have both. Those
    `asked` have had their turn.
    """
    whys = {one.gang: one.reason.kind for one in plan.waiting}
    gangs = snapshot.gangs_by_key
    waits = [
        one
        for one in view.open
        if one.purpose is Purpose.RESERVATION
        and one.gang in gangs
        and one.gang not in asked
        and _is_in_its_way(one, whys.get(one.gang), view)
    ]
    if not waits:
        return None
    gang = gangs[min(waits, key=lambda one: (one.opened, one.gang)).gang]
    there = (pod for pod in snapshot.running if not (is_kept(pod) and pod.gang == gang.key))
    return replace(snapshot, running=(*there, *placed(snapshot, plan)), gangs=(gang,))


def _is_in_its_way(one: Relocation, why: ReasonKind | None, view: ClusterView) -> bool:
    """Whether a gang that waits so might have a place with what is kept for it, or without that."""
    if why is ReasonKind.QUOTA_EXCEEDED:
        return True
    free = view.reading.snapshot.free
    return why in CONTENTION_REASONS and any(
        seat.node in free and fits(counted(free[seat.node]), counted(seat.request))
        for seat in one.seats
    )
