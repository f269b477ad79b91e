"""Gangs that may use kept room because they are expected to end before it is needed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.contention import crowded_gangs
from fourleaf.k8s_bridge.relocation.records import Purpose
from fourleaf.k8s_bridge.relocation.reserved_seats import is_kept, placements
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot, placed


def backfill(
    snapshot: Snapshot,
    plan: Plan,
    view: ClusterView,
    is_barred: Callable[[str], bool],
    seated: Collection[GangKey],
) -> Snapshot | None:
    """What is to be solved again for gangs that end in time; None where there are none.

    `snapshot` has the kept room as used, and `plan` was made for it. The second solve may use
    the room of reservations whose start is known, beside all that `plan` has placed. Gangs that
    are seated before their start, in this cycle or since an earlier one (`seated`), need theirs.
    Namespaces that are barred have not kept to what they declared.
    """
    reserved = {
        one.gang: one.starts
        for one in view.open
        if one.purpose is Purpose.RESERVATION and one.starts > view.now
    }
    for gang in {*placements(view), *seated} if reserved else ():
        reserved.pop(gang, None)
    if not reserved:
        return None
    needed = min(reserved.values())
    crowded = crowded_gangs(plan)
    short = tuple(
        gang
        for gang in snapshot.gangs
        if gang.key in crowded
        and gang.key not in reserved
        and gang.duration is not None
        and view.now + gang.duration <= needed
        and not is_barred(gang.key.namespace)
    )
    if not short:
        return None
    there = tuple(pod for pod in snapshot.running if not (is_kept(pod) and pod.gang in reserved))
    return replace(snapshot, running=(*there, *placed(snapshot, plan)), gangs=short)
