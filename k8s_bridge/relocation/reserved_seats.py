"""What relocations mean for a cycle: room that is kept, gangs that wait for it, members to bind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
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


def charged(snapshot: Snapshot, scene: ClusterView) -> Snapshot:
    """`snapshot` with the kept seats as used, and the gangs that they are for held."""
    if not scene.open:
        return snapshot
    kept = {_comer(one, scene): one for one in scene.open if _holds_back(one, scene)}
    return replace(
        snapshot,
        running=(*snapshot.running, *_seats(scene)),
        gangs=tuple(_held(gang, kept) for gang in snapshot.gangs),
    )


def is_kept(pod: RunningPod) -> bool:
    """Whether that is no pod, but a place that is kept for one."""
    return pod.name.endswith(_KEPT)


def kept(scene: ClusterView) -> dict[GangKey, list[tuple[str, Resources]]]:
    """The seats on which nobody sits yet, by gang: node and request.

    Without those of reservations: gangs that end in time may use them meanwhile.
    """
    return {
        _comer(one, scene): [(s.node, s.request) for s in one.seats if not scene.is_taken(s)]
        for one in scene.open
        if one.purpose is not Purpose.RESERVATION
    }


def placements(scene: ClusterView) -> dict[GangKey, Placement]:
    """Gang of a relocation -> those for whom its seats are, where all have come."""
    found = {one.gang: progress(one, scene).placed for one in scene.open}
    return {gang: placed for gang, placed in found.items() if placed is not None}


def _holds_back(one: Relocation, scene: ClusterView) -> bool:
    """Whether its gang may go nowhere else. With a reservation it may, until its seats are free."""
    return one.purpose is not Purpose.RESERVATION or progress(one, scene).placed is not None


def _comer(one: Relocation, scene: ClusterView) -> GangKey:
    """The gang that its seats are for now."""
    gang = scene.comers.get(one.gang)
    return one.gang if gang is None else gang.key


def _seats(scene: ClusterView) -> Sequence[RunningPod]:
    """The seats as if somebody sat on each."""
    return [
        RunningPod(
            one.gang.namespace,
            seat.pod.name + _KEPT,
            seat.node,
            seat.request,
            one.gang,
            one.priority,
        )
        for one in scene.open
        for seat in one.seats
        if not scene.is_taken(seat)
    ]


def _held(gang: Gang, kept: dict[GangKey, Relocation]) -> Gang:
    one = kept.get(gang.key)
    if gang.hold is not None or one is None:
        return gang
    detail = _DETAIL.get(one.purpose, _USUAL)
    nodes = ", ".join(sorted({seat.node for seat in one.seats}))
    step = f"It starts as soon as its members have come and its places are free: {nodes}."
    return replace(gang, hold=Hold(ReasonKind.PLACES_KEPT, detail, (), (step,)))
