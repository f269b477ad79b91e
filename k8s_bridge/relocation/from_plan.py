"""Relocations from the solver's plan: which pods go, and which seats are kept for which gang."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Move, Placement
from fourleaf.model.relocation import DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.running_gang import StandingGang


def repairs(
    plan: RepairPlan, standing: Sequence[StandingGang], view: ClusterView, seconds: float
) -> Iterator[Relocation]:
    """A relocation for every gang that lives, moves or starts over; kept for `seconds`."""
    gangs = {one.gang.key: one.gang for one in standing}
    moves = _by_gang(plan.moves, gangs)
    lost = {placement.gang: dict(placement.pods) for placement in plan.placements}
    for key in sorted(moves.keys() | lost.keys()):
        gang = gangs[key]
        nodes = lost.get(key, {}) | {move.pod: move.target for move in moves.get(key, ())}
        purpose, why = _cause(gang, view)
        yield from _of(gang, nodes, purpose, why, view, seconds)
    for key in plan.restarts:
        members = [pod for role in gangs[key].roles for pod, _ in role.bound]
        lost_pods = [pod for role in gangs[key].roles for pod in role.pods]
        leavers = _leavers(view, key.namespace, [*members, *lost_pods])
        why = "it lost members, and is to start over"
        yield _relocation(gangs[key], Purpose.RESTART, (), leavers, why, view, seconds)


def moved(
    moves: Sequence[Move],
    standing: Sequence[StandingGang],
    purpose: Purpose,
    why: str,
    view: ClusterView,
    seconds: float,
) -> Iterator[Relocation]:
    """A relocation for every gang that moves."""
    gangs = {one.gang.key: one.gang for one in standing}
    for key, some in sorted(_by_gang(moves, gangs).items()):
        nodes = {move.pod: move.target for move in some}
        yield from _of(gangs[key], nodes, purpose, why, view, seconds)


def starting(
    plan: DefragPlan, gangs: Mapping[GangKey, Gang], view: ClusterView, seconds: float
) -> Iterator[Relocation]:
    """A relocation for every waiting gang that may start once the others have moved."""
    for placement in plan.placements:
        gang = gangs[placement.gang]
        seats = _waiting_seats(placement, gang, view)
        why = "others move so that it finds room"
        if seats:
            yield _relocation(gang, Purpose.DEFRAGMENTATION, seats, (), why, view, seconds)


def reserving(
    placement: Placement,
    gang: Gang,
    starts: float,
    view: ClusterView,
    seconds: float,
    why: str = "it has waited for long",
) -> Relocation | None:
    """The relocation that keeps the place of `placement` until no pod stands there any more.

    None where the gang does not wait any more.
    """
    seats = _waiting_seats(placement, gang, view)
    if not seats:
        return None
    one = _relocation(gang, Purpose.RESERVATION, seats, (), why, view, seconds)
    return replace(one, starts=starts)


def preempting(
    plan: PreemptionPlan, gang: Gang, view: ClusterView, seconds: float
) -> Relocation | None:
    """The relocation that makes room for `gang`.

    None where the plan has no place for it, or it does not wait any more.
    """
    seats = _waiting_seats(plan.placement, gang, view) if plan.placement else ()
    if not seats:
        return None
    why = f"gang {gang.key} of priority {gang.priority} takes its place"
    return _relocation(gang, Purpose.PREEMPTION, seats, _victims(plan, view), why, view, seconds)


def making_room(
    plan: PreemptionPlan, repair: Relocation, gang: Gang, view: ClusterView, seconds: float
) -> Relocation | None:
    """The relocation that makes room for the `repair` of a gang that stands.

    None where the places of the repair are free only once members of the gang have left others.
    """
    why = f"gang {gang.key} of priority {gang.priority} has lost members, and moves to its place"
    leavers = _victims(plan, view)
    one = _relocation(gang, Purpose.PREEMPTION, repair.seats, leavers, why, view, seconds)
    then = replace(view, open=(*view.open, one))
    return one if leavers and then.fits_in_the_end(one) else None


def _victims(plan: PreemptionPlan, view: ClusterView) -> list[Leaver]:
    return [
        leaver
        for victim in plan.victims
        for leaver in _leavers(view, victim.gang.namespace, [pod for pod, _ in victim.pods])
    ]


def comers(one: Relocation) -> tuple[Member, ...]:
    """The members that wait for the places of a relocation, there."""
    return tuple(Member(seat.pod, seat.node) for seat in one.seats if seat.waits)


def _of(
    gang: Gang,
    nodes: Mapping[str, str],
    purpose: Purpose,
    why: str,
    view: ClusterView,
    seconds: float,
) -> Iterator[Relocation]:
    seats = tuple(_seats(gang, nodes, view))
    leavers = _leavers(view, gang.key.namespace, list(nodes))
    if len(seats) == len(nodes):
        yield _relocation(gang, purpose, seats, leavers, why, view, seconds)


def _relocation(
    gang: Gang,
    purpose: Purpose,
    seats: tuple[Seat, ...],
    leavers: Sequence[Leaver],
    why: str,
    view: ClusterView,
    seconds: float,
) -> Relocation:
    going = {leaver.pod.uid for leaver in leavers}
    members = ((pod, node) for role in gang.roles for pod, node in role.bound)
    named = ((view.cache.named(gang.key.namespace, pod), node) for pod, node in members)
    return Relocation(
        gang=gang.key,
        purpose=purpose,
        seats=seats,
        leavers=tuple(leavers),
        stays=frozenset(
            (seen.pod.uid, node) for seen, node in named if seen and seen.pod.uid not in going
        ),
        priority=gang.priority,
        bandwidth=gang.bandwidth,
        owner=_owner(gang, view),
        why=why,
        opened=view.now,
        until=view.now + seconds,
    )


def _owner(gang: Gang, view: ClusterView) -> str:
    """What makes up for the one pod of `gang`, "" where there is none, or it has several."""
    pods = [pod for role in gang.roles for pod in (*role.pods, *(name for name, _ in role.bound))]
    return view.owner(gang.key.namespace, pods[0]) if len(pods) == 1 else ""


def _waiting_seats(placement: Placement, gang: Gang, view: ClusterView) -> tuple[Seat, ...]:
    """Seats for members that wait; none where some do not any more."""
    seats = tuple(_seats(gang, dict(placement.pods), view))
    whole = len(seats) == len(placement.pods)
    return seats if whole and all(seat.waits for seat in seats) else ()


def _seats(gang: Gang, nodes: Mapping[str, str], view: ClusterView) -> Iterator[Seat]:
    space = gang.key.namespace
    for role in gang.roles:
        for pod in (*role.pods, *(name for name, _ in role.bound)):
            seen = _as_planned(view, space, pod) if pod in nodes else None
            if seen is not None:
                target = Target(space, pod, seen.pod.uid)
                rank = view.rank(space, pod)
                yield Seat(target, rank, seen.node, nodes[pod], role.request)


def _leavers(view: ClusterView, namespace: str, pods: Sequence[str]) -> list[Leaver]:
    """Those of `pods` that stand somewhere."""
    found = []
    for name in pods:
        seen = _as_planned(view, namespace, name)
        if seen is not None and seen.node and not seen.finished:
            pod = Target(namespace, name, seen.pod.uid)
            found.append(Leaver(pod, seen.node, seen.node in view.dead))
    return found


def _as_planned(view: ClusterView, namespace: str, name: str) -> PodSeen | None:
    """The pod as it is now.

    None where it has started since the plan was asked for, or another has taken its name: that
    one stands where it need not leave.
    """
    seen = view.cache.named(namespace, name)
    stood = view.reading.uids.get((namespace, name), "")
    return seen if seen is not None and stood == (seen.pod.uid if seen.node else "") else None


def _by_gang(moves: Sequence[Move], gangs: Mapping[GangKey, Gang]) -> dict[GangKey, list[Move]]:
    owner = {
        (key.namespace, pod): key
        for key, gang in gangs.items()
        for role in gang.roles
        for pod, _ in role.bound
    }
    found: dict[GangKey, list[Move]] = defaultdict(list)
    for move in moves:
        found[owner[move.namespace, move.pod]].append(move)
    return found


def _cause(gang: Gang, view: ClusterView) -> tuple[Purpose, str]:
    """Whether the gang is repaired or drained, and why it has to move at all."""
    left = {
        seen.node
        for role in gang.roles
        for pod in role.pods
        if (seen := view.cache.named(gang.key.namespace, pod)) and seen.node
    }
    dead = left & view.dead
    if dead:
        return Purpose.REPAIR, f"node {', '.join(sorted(dead))} is dead"
    if left:
        return Purpose.DRAIN, f"node {', '.join(sorted(left))} is to be emptied"
    if any(role.pods for role in gang.roles):
        return Purpose.REPAIR, "its lost members find a place only if others of it move"
    return Purpose.REPAIR, "a gang that lost members finds a place only if it moves"
