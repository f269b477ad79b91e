"""Reserved seats: what a cycle charges for relocations, the gangs it holds, members to bind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule, hold_back
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.plan import Placement
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot

_DETAIL = {
    Purpose.PREEMPTION: "pods of lower priority make room for it",
}
_KEPT = " (kept)"
"""What follows the name of a member whose place is kept; no pod has a space in its name."""
_USUAL = "places are kept for its members until they have come"


def charged(snapshot: Snapshot, view: ClusterView) -> Snapshot:
    """`snapshot` with the kept seats as used, and the gangs that they are for held."""
    return hold_back(charge(snapshot, view), [rule(view)]) if view.open else snapshot


def charge(snapshot: Snapshot, view: ClusterView) -> Snapshot:
    """`snapshot` with the kept seats as used."""
    return replace(snapshot, running=(*snapshot.running, *_seats(view)))


def is_kept(pod: RunningPod) -> bool:
    """Whether that is no pod, but a place that is kept for one."""
    return pod.name.endswith(_KEPT)


def kept(view: ClusterView) -> dict[GangKey, list[tuple[str, Resources]]]:
    """The seats that are not taken yet, by gang: node and request.

    Without those of reservations: gangs that end in time may use them meanwhile.
    """
    return {
        _comer(one, view): [(s.node, s.request) for s in one.seats if not view.is_taken(s)]
        for one in view.open
        if one.purpose is not Purpose.RESERVATION
    }


def placements(view: ClusterView) -> dict[GangKey, Placement]:
    """Gang of a relocation -> the members its seats are for, where all have come."""
    found = {one.gang: progress(one, view).placed for one in view.open}
    return {gang: placed for gang, placed in found.items() if placed is not None}


def _holds_back(one: Relocation, view: ClusterView) -> bool:
    """Whether its gang may go nowhere else. With a reservation it may, until its seats are free."""
    return one.purpose is not Purpose.RESERVATION or progress(one, view).placed is not None


def _comer(one: Relocation, view: ClusterView) -> GangKey:
    """The gang that its seats are for now."""
    gang = view.comers.get(one.gang)
    return one.gang if gang is None else gang.key


def _seats(view: ClusterView) -> Sequence[RunningPod]:
    """The seats as if each was taken."""
    return [
        RunningPod(
            one.gang.namespace,
            seat.pod.name + _KEPT,
            seat.node,
            seat.request,
            one.gang,
            one.priority,
            one.bandwidth,
        )
        for one in view.open
        for seat in one.seats
        if not view.is_taken(seat)
    ]


def rule(view: ClusterView) -> HoldRule:
    """Hold the gangs that seats are kept for."""
    kept = {_comer(one, view): one for one in view.open if _holds_back(one, view)}

    def hold(gang: Gang) -> Hold | None:
        one = kept.get(gang.key)
        if one is None:
            return None
        detail = _DETAIL.get(one.purpose, _USUAL)
        nodes = ", ".join(sorted({seat.node for seat in one.seats}))
        step = f"It starts as soon as its members have come and its places are free: {nodes}."
        return Hold(ReasonKind.PLACES_KEPT, detail, (), (step,))

    return hold
