"""What a relocation has to know of the cluster, at one moment."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from typing import Protocol

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.relocation.pod_makers import Makers, lacking, to_come
from fourleaf.k8s_bridge.relocation.records import Relocation, Seat
from fourleaf.model.extensions import NO_EXTENSIONS, ExtensionError, Extensions, load
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.readers.live import LiveReading
from fourleaf.model.readers.pods.pods import rank_of
from fourleaf.model.resources import Resources, counted, given_back, minus, total
from fourleaf.model.validator.facts import facts_of
from fourleaf.model.validator.member_tally import Placed, stand
from fourleaf.model.validator.seats import seat_breaches

MOST_KINDS = 64
"""Kinds of pods of one owner, by what they ask for, of which a place may find who has come."""

_ByKind = dict[tuple[Resources, NodeConstraint], deque[Gang]]
"""Gangs of one pod, by what it asks for and which nodes it may use."""


class DeadNodes(Protocol):
    """Knows which nodes are dead. `died` is set when another one is found so."""

    died: asyncio.Event

    @property
    def dead(self) -> frozenset[str]:
        """The nodes of which all that runs there is lost."""

    def silent_for(self, node: str) -> float | None:
        """Seconds since the last heartbeat of a silent node, None where it is heard."""


@dataclass(frozen=True)
class ClusterView:
    """The cluster now. `open` are all relocations, `dead` nodes of which all pods are lost.

    `now` in seconds since the epoch. `ages`: gang -> seconds for which its relocation is open, by a
    clock that does not jump; where it is not given, by `now`. `idle`: the same since the API last
    let a pod go for it, in this term. `overdue` are UIDs of leavers that
    should have ended long ago, `told` those that were told to go in this term. `moved` are gangs
    of which places that are kept are in other leaves than they were, or the config allows others.
    `over` are those whose relocation only waits until its record is deleted, for ever maybe.
    `makers` of the pods that leave were there when their relocation was first seen.
    """

    cache: ClusterCache
    reading: LiveReading
    open: tuple[Relocation, ...]
    dead: frozenset[str]
    now: float
    ages: Mapping[GangKey, float] = field(default_factory=dict)
    idle: Mapping[GangKey, float] = field(default_factory=dict)
    overdue: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    moved: frozenset[GangKey] = frozenset()
    over: frozenset[GangKey] = frozenset()
    makers: Mapping[GangKey, Makers] = field(default_factory=dict)

    def age(self, one: Relocation) -> float:
        """Seconds for which a relocation is open."""
        return self.ages.get(one.gang, self.now - one.opened)

    def idle_for(self, one: Relocation) -> float:
        """Seconds since the API last let a pod go for a relocation, or since that is open."""
        return self.idle.get(one.gang, self.age(one))

    @cached_property
    def serving(self) -> tuple[Relocation, ...]:
        """The relocations that are not over: no gang is to wait for the places of the others."""
        return tuple(one for one in self.open if one.gang not in self.over)

    @cached_property
    def gangs(self) -> Mapping[GangKey, Gang]:
        """The gangs of which something waits, or is missing."""
        return self.reading.snapshot.gangs_by_key

    @cached_property
    def comers(self) -> Mapping[GangKey, Gang]:
        """Gang of a relocation -> the gang that its seats are for now, where there is one.

        That is the gang itself, or one that the same controller has made in its place: before a pod
        has gone, none is made for it, and one that waits is another replica.
        """
        found = {one.gang: self.gangs[one.gang] for one in self.serving if one.gang in self.gangs}
        left = [
            one
            for one in self.serving
            if one.owner and one.gang not in found and self.has_left(one)
        ]
        # Once for all: a rack may have lost a thousand pods, and ten thousand may wait.
        made: dict[tuple[str, str], _ByKind] = {(one.gang.namespace, one.owner): {} for one in left}
        for gang in self.gangs.values() if made else ():
            # A pod may name an owner of another namespace, which cannot have made it.
            by = gang.key.namespace, self._owner_of(gang)
            if gang.key not in found and (those := made.get(by)) is not None:
                role = next(role for role in gang.roles if role.pods)
                those.setdefault((counted(role.request), role.constraint), deque()).append(gang)
        for one in left:
            come = self._come_for(one, made[one.gang.namespace, one.owner])
            if come is not None:
                found[one.gang] = come
        return found

    def has_left(self, one: Relocation) -> bool:
        """Whether those have gone whose places it keeps for others."""
        return all(seat.waits or self.is_gone(seat.pod.uid) for seat in one.seats)

    def _come_for(self, one: Relocation, made: _ByKind) -> Gang | None:
        """The next gang of one pod of the same owner that asks for what a seat is and may use it.

        A sibling that asks for other things, or may go elsewhere alone, has not come for it.
        """
        for (request, wants), gangs in islice(made.items(), MOST_KINDS):
            if gangs and any(
                counted(seat.request) == request and self._is_for(wants, seat.node)
                for seat in one.seats
            ):
                return gangs.popleft()
        return None

    def lacking(self, one: Relocation) -> int | None:
        """How many pods the makers of its members are to make still; None where one is unknown."""
        gone = [seat.pod for seat in one.seats if not seat.waits and self.is_gone(seat.pod.uid)]
        objects, live, makers = (
            self.cache.objects,
            self.cache.live_pods,
            self.makers.get(one.gang, {}),
        )
        found = [lacking(pod, one.opened, objects, live, makers) for pod in gone]
        known = [number for number in found if number is not None]
        return max(known) if known and len(known) == len(found) else None

    def is_unwanted(self, one: Relocation) -> bool:
        """Whether the makers of its members make none any more, and none has come unread."""
        return self.lacking(one) == 0 and not self.cache.is_behind_in(one.gang.namespace)

    def to_come(self, gang: Gang) -> int | None:
        """How many pods the makers of those that wait are to make still; None where unknown."""
        waiting = (pod for role in gang.roles for pod in role.pods)
        seen = (self.cache.named(gang.key.namespace, pod) for pod in waiting)
        makers = {one.controller: one for one in seen if one is not None}
        found = [to_come(one, self.cache.objects, self.cache.live_pods) for one in makers.values()]
        known = [number for number in found if number is not None]
        return sum(known) if known and len(known) == len(found) else None

    def _owner_of(self, gang: Gang) -> str:
        """The UID of the controller of a gang of one pod, "" where there is none."""
        pods = [pod for role in gang.roles for pod in role.pods]
        return self.owner(gang.key.namespace, pods[0]) if len(pods) == 1 else ""

    def owner(self, namespace: str, pod: str) -> str:
        """The UID of the controller of a pod, "" where it has none."""
        seen = self.cache.named(namespace, pod)
        return "" if seen is None else seen.controller

    def seen(self, uid: str) -> PodSeen | None:
        """The pod, None where it is gone."""
        return self.cache.seen(uid)

    def stands(self, uid: str, node: str) -> bool:
        """Whether the pod runs on `node`, and is not being deleted."""
        seen = self.seen(uid)
        there = seen is not None and seen.node == node and not seen.finished and not seen.deleting
        return there and uid not in self.told

    def is_gone(self, uid: str) -> bool:
        """Whether the pod is gone, has ended, or is being deleted."""
        seen = self.seen(uid)
        return seen is None or seen.finished or seen.deleting

    def ends(self, one: Relocation) -> bool:
        """Whether a pod that leaves for it is on its way out, on a node that lives."""
        leaving = (self.seen(leaver.pod.uid) for leaver in one.leavers)
        return any(
            seen is not None and seen.deleting and not seen.finished and seen.node not in self.dead
            for seen in leaving
        )

    def is_untold(self, one: Relocation) -> bool:
        """Whether none of its pods that are to go has been told so."""
        return all(self.stands(leaver.pod.uid, leaver.node) for leaver in one.leavers)

    def awaits_repair(self, one: Relocation) -> bool:
        """Whether members for which others make room stand where they did still."""
        return one.makes_room_to_move and any(
            self.stands(seat.pod.uid, seat.source) for seat in one.seats if not seat.waits
        )

    def room_is_made(self, one: Relocation) -> bool:
        """Whether a repair may move members to the places of a preemption: all are really free."""
        there = any(self.stands(leaver.pod.uid, leaver.node) for leaver in one.leavers)
        return self.awaits_repair(one) and not there and self.fits(one)

    def waits(self, uid: str) -> bool:
        """Whether the pod is there, and stands nowhere yet."""
        seen = self.seen(uid)
        return seen is not None and not seen.node and not self.is_gone(uid)

    def is_seated(self, one: Relocation) -> bool:
        """Whether a member of the gang runs on the node of every seat, or is on its way there."""
        there = Counter(node for _, node in self._left_of(one))
        return Counter(seat.node for seat in one.seats) <= there

    def have_arrived(self, one: Relocation) -> bool:
        """Whether none of the members that run is only on its way."""
        seen = (self.seen(uid) for uid, _ in self._left_of(one))
        return all(pod is not None and pod.node for pod in seen)

    def _left_of(self, one: Relocation) -> Iterator[tuple[str, str]]:
        """UID and node of each member that runs, without those that leave or have ended."""
        leaving = {leaver.pod.uid for leaver in one.leavers}
        for uid, node in self._members.get(one.gang, ()):
            if uid not in leaving and not self.is_gone(uid):
                yield uid, node

    @cached_property
    def _members(self) -> Mapping[GangKey, list[tuple[str, str]]]:
        """Gang of a relocation -> UID and node of every pod of it that runs."""
        found: dict[GangKey, list[tuple[str, str]]] = {one.gang: [] for one in self.open}
        for pod in self.reading.snapshot.running:
            if pod.gang in found:
                uid = self.reading.uids[pod.namespace, pod.name]
                found[pod.gang].append((uid, pod.node))
        return found

    def is_closed(self, name: str) -> bool:
        """Whether a node takes no new pods: cordoned, or not known for sure."""
        node = self.reading.snapshot.fabric.nodes.get(name)
        if node is None:
            return False
        if node.cordoned or node.held_back or not self.cache.usable(name):
            return True
        return not node.schedulable and not self.is_hung(name)

    def is_doubted(self, name: str) -> bool:
        """Whether nothing is to be done about a node before it is clear whether it lives."""
        node = self.reading.snapshot.fabric.nodes.get(name)
        is_closed = node is None or node.cordoned or node.held_back
        return not is_closed and self.cache.is_doubted(name)

    def is_hung(self, name: str) -> bool:
        """Whether a node takes no new pods until a page is written, which may be any moment."""
        return name in self.cache.hung_nodes

    def suits(self, gang: Gang, pod: str, name: str) -> bool:
        """Whether a waiting member of `gang` may use a node, for its labels, taints and pods."""
        wants = next(role.constraint for role in gang.roles if pod in role.pods)
        return self._is_for(wants, name)

    def _is_for(self, wants: NodeConstraint, name: str) -> bool:
        node = self.reading.snapshot.fabric.nodes.get(name)
        return node is not None and wants.selects(node) and wants.tolerates(node)

    def breach(self, gang: Gang, pods: Sequence[tuple[str, str]]) -> str:
        """Which law of its own a gang would break on these places, "" where none.

        They may have been chosen long ago: leaves, what the config allows and what other nodes hold
        are others by now.
        """
        snapshot = self.reading.snapshot
        fabric = snapshot.fabric
        locations = facts_of(fabric).of_gang(snapshot.config.spec, gang, _extensions())
        placed = Placed(gang, stand(fabric, gang, pods), locations)
        return next((f"{one.subject} {one.detail}" for one in seat_breaches(fabric, placed)), "")

    def rank(self, namespace: str, pod: str) -> tuple[int, int, int]:
        """The numbers of the rank of a pod."""
        body = self.cache.objects.get(PODS, {}).get((namespace, pod), {})
        metadata = body.get("metadata") or {}
        return rank_of(pod, metadata.get("labels") or {}, metadata.get("annotations") or {})[:3]

    def fits(self, one: Relocation, leaving: Collection[str] = ()) -> bool:
        """Whether all seats of `one` find room at once beside the seats that others have.

        The pods `leaving` (UIDs) count as gone, although they are there for some time still.
        """
        return all(
            (free := self._free(node, one.gang, leaving)) is not None
            and not owes(minus(free, asked), asked)
            for node, requests in by_node(one).items()
            for asked in [total(requests)]
        )

    def fits_in_the_end(self, one: Relocation) -> bool:
        """The same, once all pods have gone that are being deleted, or will be."""
        return self.fits(one, self._leaving)

    def unkept(self, node: str) -> Resources | None:
        """What is free on `node` beside the seats of all, None where there is no such node."""
        return self._free(node, None, ())

    @cached_property
    def requests(self) -> Mapping[str, Resources]:
        """The UID of each pod that runs, and what it holds."""
        uids = self.reading.uids
        running = self.reading.snapshot.running
        return {uids.get((pod.namespace, pod.name), ""): pod.request for pod in running}

    def _free(self, node: str, gang: GangKey | None, leaving: Collection[str]) -> Resources | None:
        """What is free on `node` for the relocation of `gang`, None where there is no such node."""
        free = self.reading.snapshot.free.get(node)
        if free is None:
            return None
        for owner, request in self._seats_on[node]:
            if owner != gang:
                free = minus(free, request)
        for uid, request in self._pods_on[node] if leaving else ():
            if uid in leaving:
                free = given_back(free, request)
        return free

    @cached_property
    def _seats_on(self) -> Mapping[str, list[tuple[GangKey, Resources]]]:
        """Node -> gang and request of every seat there that is not taken yet."""
        found: dict[str, list[tuple[GangKey, Resources]]] = defaultdict(list)
        arrived = self._arrived()
        for one in self.open:
            for seat in one.seats:
                if arrived[one.gang, seat.node] and not seat.waits:
                    arrived[one.gang, seat.node] -= 1
                elif not self.is_taken(seat):
                    found[seat.node].append((one.gang, seat.request))
        return found

    def _arrived(self) -> Counter[tuple[GangKey, str]]:
        """Gang of a relocation, and node -> how many have come to seats of members that left.

        They stand there, and so does the relocation until it is deleted: their room must not
        count twice, or others lose places beside them for which they were evicted.
        """
        gangs = {one.gang: one for one in self.open}
        owners = {(one.gang.namespace, one.owner): one.gang for one in self.open if one.owner}
        nodes = {seat.node for one in self.open for seat in one.seats if not seat.waits}
        found: Counter[tuple[GangKey, str]] = Counter()
        for pod in self.reading.snapshot.running if nodes else ():
            uid = self.reading.uids.get((pod.namespace, pod.name), "")
            if pod.node not in nodes or not uid or self.is_gone(uid):
                continue
            key = pod.gang if pod.gang in gangs else None
            if key is None and owners:
                key = owners.get((pod.namespace, self.owner(pod.namespace, pod.name)))
            if key is not None and _came(gangs[key], uid):
                found[key, pod.node] += 1
        return found

    @cached_property
    def _pods_on(self) -> Mapping[str, list[tuple[str, Resources]]]:
        """Node with a seat -> UID and request of every pod there."""
        nodes = {seat.node for one in self.open for seat in one.seats}
        found: dict[str, list[tuple[str, Resources]]] = defaultdict(list)
        for pod in self.reading.snapshot.running:
            if pod.node in nodes:
                # A claim that outlasts its pod goes by no UID, and is about to be freed.
                uid = self.reading.uids.get((pod.namespace, pod.name), str(pod))
                found[pod.node].append((uid, pod.request))
        return found

    @cached_property
    def _leaving(self) -> frozenset[str]:
        """The UIDs of pods on nodes with seats that are being deleted, or will be."""
        leaving = {uid for pods in self._pods_on.values() for uid, _ in pods if self.is_gone(uid)}
        return frozenset(leaving | {x.pod.uid for one in self.open for x in one.leavers})

    def is_taken(self, seat: Seat) -> bool:
        """Whether the pod that the seat is for sits there."""
        return seat.waits and self.stands(seat.pod.uid, seat.node)


def _came(one: Relocation, uid: str) -> bool:
    """Whether a member was not there when the relocation was written."""
    here = {leaver.pod.uid for leaver in one.leavers} | {pod for pod, _ in one.stays}
    return uid not in here


@cache
def _extensions() -> Extensions:
    """The rules of the operator's own, as the solver has them."""
    try:
        return load()
    except ExtensionError:
        return NO_EXTENSIONS


def by_node(one: Relocation) -> Mapping[str, Sequence[Resources]]:
    """Node -> what its seats there ask for."""
    found: dict[str, list[Resources]] = defaultdict(list)
    for seat in one.seats:
        found[seat.node].append(seat.request)
    return found


def owes(left: Resources, asked: Resources) -> bool:
    """Whether less than nothing is `left` of what is `asked` for.

    What a node owes of all else is no obstacle: pods of others may take more CPU than it has, and
    who asks for none may stand beside them.
    """
    extra = {name for name, amount in asked.extra if amount}
    return (
        (asked.gpus > 0 > left.gpus)
        or ((asked.cpu or 0) > 0 > (left.cpu or 0))
        or ((asked.memory or 0) > 0 > (left.memory or 0))
        or (asked.pods > 0 > left.pods)
        or any(name in extra and amount < 0 for name, amount in left.extra)
    )
