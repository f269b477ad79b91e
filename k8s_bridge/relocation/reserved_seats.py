"""Reserved seats: what a cycle charges for them, gangs it holds, members it binds; their leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule, hold_back
from fourleaf.model.config.spec import TopologyConstraints
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
_Ground = tuple[tuple[tuple[str, str], ...], TopologyConstraints, tuple[str, ...] | None]
"""Leaf and spine of each place, and what the config says of places in leaves."""


def charged(snapshot: Snapshot, view: ClusterView) -> Snapshot:
    """`snapshot` with the kept seats as used, and the gangs that they are for held."""
    return hold_back(charge(snapshot, view), [rule(view)]) if view.open else snapshot


def charge(snapshot: Snapshot, view: ClusterView) -> Snapshot:
    """`snapshot` with the kept seats as used."""
    return replace(snapshot, running=(*snapshot.running, *_seats(view)))


def is_kept(pod: RunningPod) -> bool:
    """Whether that is no pod, but a place that is kept for one."""
    return pod.name.endswith(_KEPT)


def kept(
    view: ClusterView, seated: Mapping[GangKey, GangKey]
) -> dict[GangKey, list[tuple[str, Resources]]]:
    """The seats that are not taken yet, by gang: node and request.

    `seated`: gang of a relocation -> who is being bound to its seats. Without those of other
    reservations, which gangs that end in time may use meanwhile, and of what is over.
    """
    return {
        seated.get(one.gang) or _comer(one, view): [
            (seat.node, seat.request) for seat in one.seats if not view.is_taken(seat)
        ]
        for one in view.open
        if one.gang in seated
        or (one.gang not in view.over and one.purpose is not Purpose.RESERVATION)
    }


def placements(view: ClusterView) -> dict[GangKey, Placement]:
    """Gang of a relocation -> the members its seats are for, where all have come."""
    found = {one.gang: progress(one, view).placed for one in view.serving}
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
    kept = {_comer(one, view): one for one in view.serving if _holds_back(one, view)}

    def hold(gang: Gang) -> Hold | None:
        one = kept.get(gang.key)
        if one is None:
            return None
        detail = _DETAIL.get(one.purpose, _USUAL)
        nodes = ", ".join(sorted({seat.node for seat in one.seats}))
        step = f"It starts as soon as its members have come and its places are free: {nodes}."
        return Hold(ReasonKind.PLACES_KEPT, detail, (), (step,))

    return hold


class KeptLeaves:
    """What places were legal by, as a leader first saw it: their leaves, and the config.

    Which other nodes a gang may use is left out, though a leaf is complete by that: it changes with
    the very pods that go for the gang, and what these went for is not to be given up for it.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[GangKey, float], _Ground] = {}

    def moved(self, there: Iterable[Relocation], snapshot: Snapshot) -> frozenset[GangKey]:
        """Gangs of those of these, which are all that there are, of which that has changed."""
        now = {(one.gang, one.opened): _ground(one, snapshot) for one in there}
        self._first = {key: self._first.get(key, ground) for key, ground in now.items()}
        return frozenset(key[0] for key, ground in now.items() if ground != self._first[key])


def _ground(one: Relocation, snapshot: Snapshot) -> _Ground:
    fabric, spec = snapshot.fabric, snapshot.config.spec
    nodes = (*(seat.node for seat in one.seats), *sorted(node for _, node in one.stays))
    leaves = (fabric.leaves[fabric.leaf_of[node]] for node in nodes if node in fabric.leaf_of)
    places = tuple((leaf.name, leaf.spine) for leaf in leaves)
    return places, spec.topology_constraints, spec.namespace(one.gang.namespace).domains
