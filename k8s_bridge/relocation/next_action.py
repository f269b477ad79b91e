"""Next action of a relocation: a pure function of its record and the cluster.

No living pod is evicted before every seat of its gang is really free, so that a move never ends
without a place. Lost pods go at once, for they hold up their replacements; so do the victims of
a preemption, which make the room. Where that is for members that stand elsewhere, it is kept until
a repair moves them.
"""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.evictions.lasting_jobs import lasting_jobs
from fourleaf.k8s_bridge.relocation.records import (
    NONE_HAS_COME,
    OTHERS_CAME,
    SEAT_CLOSED,
    SEAT_GONE,
    TOO_FEW,
    TOO_MANY,
    UNREADY,
    UNWANTED,
    VICTIMS_STAY,
    Leaver,
    Purpose,
    Relocation,
    Seat,
)
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Placement
from fourleaf.model.readers.pods.pods import NO_INDEX
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import counted

TOLD_SECONDS = 120.0
"""Seconds within which a victim of a preemption has to be told to go, then the next one: the API
may refuse it."""

SILENCES = 3
"""So many times what makes a node dead, after which one that is not counts as alive."""


@dataclass(frozen=True, slots=True)
class RelocationStep:
    """The next step: pods to `evict`, members to bind as `placed`, or that it is `over`.

    `why` says what ended it before its time, "" where it has served.
    """

    evict: tuple[Leaver, ...] = ()
    placed: Placement | None = None
    over: bool = False
    why: str = ""


_BY_NUMBER = ReasonKind.MEMBERS_MISSING
"""What keeps members from all places but kept ones: as many are to come as there are seats."""

REST = RelocationStep()
"""Nothing is to be done until something changes."""


def progress(one: Relocation, view: ClusterView) -> RelocationStep:
    """What brings `one` closer to its end."""
    there = tuple(x for x in one.leavers if view.stands(x.pod.uid, x.node))
    gang = view.comers.get(one.gang)
    awaits_repair = view.awaits_repair(one)
    if one.seats and gang is None and not there and not awaits_repair and view.is_seated(one):
        # Who is only on the way may have to come back: the places are kept until then.
        return RelocationStep(over=True) if view.have_arrived(one) else REST
    # First of all: a Job that is suspended ends the members that stay as well.
    if not there and not _has_come(one, view) and view.is_unwanted(one):
        return RelocationStep(over=True, why=UNWANTED)
    if why := _obstacle(one, there, view):
        return RelocationStep(over=True, why=why)
    if any(view.is_doubted(seat.node) for seat in one.seats):
        return REST
    if there:
        return RelocationStep(evict=_may_go(one, there, view))
    if not one.seats:
        return RelocationStep(over=True)
    if gang is None or awaits_repair or _holds_quota(one, view):
        return REST
    return _seated(one, gang, view)


def _obstacle(one: Relocation, there: tuple[Leaver, ...], view: ClusterView) -> str:
    """Why the plan no longer holds, "" where it does."""
    if why := _undone(one, there, view):
        return why
    # What ends already is room to come, however long it takes: no other has to go for it.
    ends = one.purpose is Purpose.PREEMPTION and not there and view.ends(one)
    if view.age(one) >= one.until - one.opened and not ends and not _is_late(one, view):
        return NONE_HAS_COME
    if why := _closed_seat(one, view):
        return why
    if one.seats and not any(not seat.waits or view.waits(seat.pod.uid) for seat in one.seats):
        return "those who waited for it are gone, or run elsewhere"
    for uid, node in one.stays:
        if not view.stands(uid, node):
            return f"a member on node {node} has not stayed there"
    if one.makes_room_to_move and _is_whole_again(one, view):
        return "the nodes of its lost members have come back"
    # A reservation waits for pods that are not evicted.
    evicts = one.purpose is not Purpose.RESERVATION
    if evicts and not view.fits_in_the_end(one):
        return "others have taken its places"
    # Of a gang that starts over nothing is kept: who is left of it would wait for the others.
    starts_over = one.purpose is Purpose.RESTART and not view.is_untold(one)
    for leaver in there if not starts_over else ():
        if leaver.lost and leaver.node not in view.dead:
            return f"node {leaver.node} has come back"
    return _ended_job(one, there, view)


def _is_whole_again(one: Relocation, view: ClusterView) -> bool:
    """Whether none of its members is lost any more, nor waits, for all that is known.

    Another leader does not know at first which nodes are dead.
    """
    silence = SILENCES * view.cache.config.spec.failures.silent_seconds
    if not view.is_untold(one) and view.age(one) < silence:
        return False
    living = {uid for uid, _ in one.stays}
    return all(
        not seat.waits and view.stands(seat.pod.uid, seat.source) and seat.source not in view.dead
        for seat in one.seats
        if seat.pod.uid not in living
    )


def _ended_job(one: Relocation, there: tuple[Leaver, ...], view: ClusterView) -> str:
    """The Job that would end if all that live went, of which none has yet; "" where none would.

    It has failed since they were planned to go. Who preempts, or starts over, may have that.
    """
    living = {(x.pod.namespace, x.pod.name) for x in there if not x.lost}
    spares = one.purpose not in (Purpose.PREEMPTION, Purpose.RESTART)
    if not living or not spares or not view.is_untold(one):
        return ""
    limits = lasting_jobs(view, sorted(living))
    return next((str(limit) for limit in limits if len(limit.pods & living) > limit.most), "")


def _closed_seat(one: Relocation, view: ClusterView) -> str:
    """Which place cannot be used, "" where all can."""
    # Others will do, as long as no pod has gone for these.
    others_will_do = bool(one.leavers) and view.is_untold(one)
    for seat in one.seats:
        if not others_will_do and view.is_doubted(seat.node):
            # Pods have gone for it: most nodes are silent at once where the API itself was.
            continue
        if not view.cache.usable(seat.node):
            return f"node {seat.node} {SEAT_GONE}"
        if not view.is_taken(seat) and view.is_closed(seat.node):
            return f"node {seat.node} {SEAT_CLOSED}"
        if others_will_do and view.is_hung(seat.node):
            return f"node {seat.node} {SEAT_CLOSED} for now"
    return ""


def _undone(one: Relocation, there: tuple[Leaver, ...], view: ClusterView) -> str:
    """What keeps a relocation from what it is for, whatever time it has, "" where nothing does."""
    if one.purpose is Purpose.PREEMPTION and _stay(one, there, view):
        return VICTIMS_STAY
    if one.purpose is Purpose.RESERVATION and _is_unready(one, view):
        return UNREADY
    return ""


def _stay(one: Relocation, there: tuple[Leaver, ...], view: ClusterView) -> bool:
    """Whether victims cannot be told to go, or do not go, so that there is no room."""
    if there:
        # The API may take a few seconds for each of hundreds.
        is_too_long = view.age(one) >= one.until - one.opened
        return view.idle_for(one) >= TOLD_SECONDS or is_too_long
    has_room = view.fits(one) and not _holds_quota(one, view)
    return any(x.pod.uid in view.overdue for x in one.leavers) and not has_room


def _holds_quota(one: Relocation, view: ClusterView) -> bool:
    """Whether victims that end still hold quota that a gang of their namespace is to have."""
    namespace = one.gang.namespace
    if one.purpose is not Purpose.PREEMPTION:
        return False
    if view.cache.config.spec.namespace(namespace).gpu_quota is None:
        return False
    own = (view.seen(x.pod.uid) for x in one.leavers if x.pod.namespace == namespace)
    return any(seen is not None and not seen.finished for seen in own)


def _exceeds_quota(one: Relocation, view: ClusterView) -> bool:
    """Whether pods that stay for a while hold quota that the gang of a reservation needs."""
    namespace = one.gang.namespace
    quota = view.cache.config.spec.namespace(namespace).gpu_quota
    if quota is None or one.purpose is not Purpose.RESERVATION:
        return False
    running = (pod for pod in view.reading.snapshot.running if pod.namespace == namespace)
    wanted = sum(seat.request.gpus for seat in one.seats if not view.is_taken(seat))
    return sum(pod.request.gpus for pod in running) + wanted > quota


def _is_unready(one: Relocation, view: ClusterView) -> bool:
    """Whether the gang of a reservation could not start if all of its seats were free now."""
    gang = view.comers.get(one.gang)
    if gang is None:
        # Those that are on their way, to other nodes maybe, run in the reading alone.
        return not any(
            seat.pod.uid in view.requests or ((seen := view.seen(seat.pod.uid)) and seen.node)
            for seat in one.seats
        )
    # Gangs that each decide where the others may go take turns, and that is over soon.
    if gang.hold is not None and gang.hold.kind != ReasonKind.WAITS_FOR_GANG:
        return True
    return sum(len(role.pods) + len(role.bound) for role in gang.roles) < len(one.seats)


def _is_late(one: Relocation, view: ClusterView) -> bool:
    """Whether pods that have not come in time will: a Job's controller backs off for minutes."""
    limit = view.cache.config.spec.repair.places_limit_seconds
    if view.age(one) >= limit or all(seat.waits for seat in one.seats):
        return False
    return _awaits_more(one, view) or bool(view.lacking(one))


def _awaits_more(one: Relocation, view: ClusterView) -> bool:
    """Whether some have come that its seats are for, and wait for others."""
    gang = view.comers.get(one.gang)
    if gang is None or not _has_come(one, view):
        return False
    return gang.hold is not None or view.to_come(gang) is not None


def _has_come(one: Relocation, view: ClusterView) -> bool:
    """Whether a pod waits that its seats are for."""
    gang = view.comers.get(one.gang)
    return gang is not None and any(role.pods for role in gang.roles)


def _may_go(one: Relocation, there: tuple[Leaver, ...], view: ClusterView) -> tuple[Leaver, ...]:
    if one.purpose in (Purpose.PREEMPTION, Purpose.RESTART):
        return there
    if view.fits(one, {leaver.pod.uid for leaver in there}):
        return there
    return tuple(leaver for leaver in there if leaver.lost)


def _seated(one: Relocation, gang: Gang, view: ClusterView) -> RelocationStep:
    """The placement, once all members that the seats are for have come and the seats are free."""
    waiting = [pod for role in gang.roles for pod in role.pods]
    # Before what they ask for is compared: the claims of a pod are made after it.
    if gang.hold is not None and gang.hold.kind is not _BY_NUMBER:
        return REST
    if len(waiting) > len(one.seats):
        return RelocationStep(over=True, why=TOO_MANY)
    # One that was told to go may be seen to live still: its maker makes another once it has gone.
    is_short = len(waiting) < len(one.seats) and gang.hold is None and view.has_left(one)
    if is_short and view.to_come(gang) == 0:
        return RelocationStep(over=True, why=TOO_FEW)
    if len(waiting) < len(one.seats) or not view.fits(one) or _exceeds_quota(one, view):
        return REST
    found = seats_for(one, gang, view)
    if found is None:
        return RelocationStep(over=True, why=OTHERS_CAME)
    pods = tuple((pod, found[pod].node) for role in gang.roles for pod in role.pods)
    unfit = next((node for pod, node in pods if not view.suits(gang, pod, node)), "")
    if unfit:
        return RelocationStep(over=True, why=f"node {unfit} is no longer one that they may use")
    if one.gang in view.moved and (breach := view.breach(gang, pods)):
        return RelocationStep(over=True, why=f"its places are no longer allowed: {breach}")
    return RelocationStep(placed=Placement(gang.key, pods))


def seats_for(one: Relocation, gang: Gang, view: ClusterView) -> dict[str, Seat] | None:
    """A seat for every waiting member of `gang`, None where requests do not match.

    By the pod itself or its name, else by its index, else in order. What a pod demands of its
    devices beyond their number is not in the record; the commit of the placement looks at that.
    """
    namespace = one.gang.namespace
    requests = {pod: counted(role.request) for role in gang.roles for pod in role.pods}
    ranks = {pod: view.rank(namespace, pod) for pod in requests}
    left = list(one.seats)
    found: dict[str, Seat] = {}
    for by_index in (False, True, None):
        for pod, request in requests.items():
            for seat in () if pod in found else tuple(left):
                if seat.request == request and _is_for(seat, pod, ranks[pod], by_index):
                    found[pod] = seat
                    left.remove(seat)
                    break
    return found if len(found) == len(requests) else None


def _is_for(seat: Seat, pod: str, rank: tuple[int, int, int], by_index: bool | None) -> bool:
    if by_index is None:
        return True
    if by_index:
        return rank[2] != NO_INDEX and seat.rank == rank
    return seat.pod.name == pod
