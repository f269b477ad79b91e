"""Pods as they change: who belongs to which gang, and which gangs have to be read again."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from fourleaf.model.config.owner_kinds import DEFAULT_OWNER_KINDS, OwnerKinds
from fourleaf.model.devices.held_devices import Grant
from fourleaf.model.readers.gangs.names import GangNames, Identity
from fourleaf.model.readers.gangs.read_gang import identity_of
from fourleaf.model.readers.live.backlog import Backlog
from fourleaf.model.readers.live.known_pod import (
    Assumption,
    Known,
    what_it_holds,
)
from fourleaf.model.readers.live.object_cache import (
    SOURCE,
    Address,
    ObjectCache,
    ObjectView,
    what_counts,
)
from fourleaf.model.readers.live.read_allowance import (
    CLAIMS_A_POD,
    VALUES_A_POD,
    ReadAllowance,
)
from fourleaf.model.readers.objects.dra_kinds import CLAIM
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.owners import OwnerRef, Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.storage_kinds import CLAIM as VOLUME_CLAIM
from fourleaf.model.readers.pods.pods import Pod, read_pod

MOST_PODS_AT_ONCE = 1_000
"""Pods, and as many of gangs, that are read before others have the event loop: 0.25 s."""
FEW_PODS = 16
"""A gang of more is not read at once for each of its pods that is bound or ends: that costs."""


class PodCache:
    """All pods. `dirty` are the gangs that must be read again, `names` those of all gangs.

    `renewed` are those of which something is new that no plan depends on, such as a pod's version.
    `urgent` are those among the dirty that are read at once, whatever their namespace has had read.
    `unread` are the pods that have come to a node, or changed there, and whose gang is not read.
    """

    def __init__(self, bodies: ObjectCache) -> None:
        self.dirty: set[Identity] = set()
        self.names = GangNames()
        self.renewed: set[Identity] = set()
        self.urgent: set[Identity] = set()
        self.unread: dict[Address, Identity] = {}
        self._required: set[Identity] = set()
        """Those of the urgent gangs that are read whatever others share their name."""
        self._allowance = ReadAllowance()
        self._put_off: dict[str, dict[OwnerRef | None, None]] = {}
        """Namespace -> what has changed there that pods depend on; None for all of its pods."""
        self._unable: set[str] = set()
        """Namespaces with gangs that were left, for want of allowance or as others come next."""
        self._served: set[str] = set()
        """Namespaces whose gangs were read since what these depend on was, which comes next."""
        self._urgent_pods: set[Address] = set()
        self._urgent_with_gang: set[Address] = set()
        """Those of them whose gang is read at once, whatever its size."""
        self._left_urgent: dict[Address, int] = {}
        """Those of them that are not read yet, for want of room, by number as they were left."""
        self._lefts = 0
        self._bodies = bodies
        self._pods: dict[Address, Known] = {}
        self._by_uid: dict[str, Address] = {}
        self._assumed: dict[str, Assumption] = {}
        self._stale: set[Address] = set()
        self._members: dict[Identity, dict[Address, None]] = {}
        self._dependents: dict[tuple[str, OwnerRef], set[Address]] = {}
        self._room = math.inf
        self._left: Backlog[Identity] = Backlog()
        """Gangs that are left for want of room alone, whatever their namespace has had read."""
        self._left_pods: Backlog[Address] = Backlog()
        self._kinds = DEFAULT_OWNER_KINDS

    @property
    def addresses(self) -> list[Address]:
        """Where all pods are."""
        return list(self._pods)

    @property
    def identities(self) -> list[Identity]:
        """All gangs."""
        return list(self._members)

    def configure(self, kinds: OwnerKinds) -> None:
        """Let `kinds` be those of owners, which may make other gangs of all pods."""
        for at, known in self._pods.items():
            self._watch(at, known, ())
        self._kinds = kinds
        self._stale.update(self._pods)

    def owners_in(self, view: ObjectView) -> Owners:
        """The owners among the objects of `view`, which are all that there are."""
        return Owners(view, whole=True, kinds=self._kinds)

    def read_all_anew(self) -> None:
        """Mark all gangs, and forget how their pods were read."""
        self.urge(self._members)
        for known in self._pods.values():
            known.forget_read()

    def read_anew(self, namespace: str) -> None:
        """Mark the gangs of one namespace, and forget how their pods were read."""
        self._put_off.setdefault(namespace, {})[None] = None

    def urge(self, identities: Iterable[Identity]) -> None:
        """Mark these gangs, to be read at once."""
        some = set(identities)
        self.dirty |= some
        self.urgent |= some
        self._required |= some

    def urge_pods(self, some: Iterable[Address]) -> None:
        """Let these pods and the others of their gangs be read at once, as far as they are not."""
        found = {at: self._pods[at].identity for at in some if at in self._pods}
        gangs = {identity for identity in found.values() if identity is not None}
        for at in {*found, *(one for identity in gangs for one in self.members(identity))}:
            if at in self._stale or at in self._left_pods or self._is_put_off(at):
                self._urge_pod(at)
        self.urge(one for one in gangs if one in self.dirty or one in self._left)

    def _is_put_off(self, at: Address) -> bool:
        """Whether something that a pod depends on has changed, and is not taken in yet."""
        refs = self._put_off.get(at[0])
        if refs is None:
            return False
        return None in refs or not refs.keys().isdisjoint(self._pods[at].asked)

    @property
    def is_behind(self) -> bool:
        """Whether something that has changed is not read yet."""
        return bool(self._put_off or self.dirty or self.is_cut_short)

    @property
    def is_cut_short(self) -> bool:
        """Whether more is to be read at once than was, so that others have a turn first."""
        return bool(self._left or self._left_pods or self._left_urgent)

    @property
    def bound_left(self) -> range:
        """Numbers from that of the first to the last pod left that decides which room is free.

        They are read in this order, and one that changes meanwhile keeps its place.
        """
        oldest = next(iter(self._left_urgent.values()), self._lefts + 1)
        return range(oldest, self._lefts + 1)

    def is_behind_in(self, namespace: str) -> bool:
        """The same of one namespace: pods of it that wait may be in no gang yet."""
        return (
            namespace in self._put_off
            or self._left.has(namespace)
            or self._left_pods.has(namespace)
            or any(at[0] == namespace for at in self._left_urgent)
            or any(one[0] == namespace for one in self.dirty)
        )

    def due(self) -> set[Identity]:
        """Take the gangs that are to be read now; the others stay `dirty`.

        All of a namespace or none, but for the urgent ones: two of them may have changed names.
        """
        spaces = {identity[0] for identity in self.dirty}
        others_next = self._served & self._put_off.keys()
        able = {name for name in spaces - others_next if self._allowance.has(name)}
        self._unable = spaces - able
        self._served = (others_next | able) & self._put_off.keys()
        # With one come those that it may have given another name: where these are large, all wait.
        urgent, renamed = set[Identity](), set[Identity]()
        for one in self.urgent:
            others = self.dirty.intersection(self.names.sharing(one)) - {one}
            is_cheap = sum(map(self._cost_of_gang, others)) <= FEW_PODS
            if is_cheap or one in self._required or one[0] in able:
                urgent.add(one)
                renamed |= others
        # Of a gang that is gone there is nothing to read, and its name may be that of another.
        found = {
            one
            for one in self.dirty
            if one[0] in able or one in urgent or one in renamed or one not in self._members
        }
        self.urgent = urgent
        for identity in found - urgent:
            self._allowance.charge(identity[0], self._cost_of_gang(identity))
        self.dirty -= found
        found = self._some(found)
        self.urgent.clear()
        self._required.clear()
        for at in [at for at, identity in self.unread.items() if identity in found]:
            del self.unread[at]
        return found

    def _some(self, found: set[Identity]) -> set[Identity]:
        """As many of these gangs, and of those left before, as there is room for."""
        # Nor is a plan to go on with a gang that is gone.
        urgent = {one for one in found if one in self.urgent or one not in self._members}
        for one in urgent:
            self._left.discard(one)
        some = self._left.take(found - urgent, self._room, self._cost_of_gang) | urgent
        # Two of one name are read together: they may have changed names.
        shared = {other for one in some for other in self.names.sharing(one)}
        some |= {one for one in shared if self._left.discard(one)}
        self._room -= sum(map(self._cost_of_gang, some))
        return some

    def _cost_of_gang(self, identity: Identity) -> int:
        """How many pods it counts for to read a gang; none where it is gone."""
        return sum(self._pods[at].cost for at in self.members(identity))

    def _hasten(self, identity: Identity) -> None:
        """Mark a gang of which a pod has come to a node or left it.

        To read all of a large one for each pod of it would leave the others nothing: where its
        namespace has had too much read, that pod is read alone.
        """
        self.dirty.add(identity)
        few = len(self.members(identity)) <= FEW_PODS
        if few and self._cost_of_gang(identity) <= FEW_PODS:
            self.urgent.add(identity)

    def _urge_pod(self, at: Address) -> None:
        """Have a pod read at once, and its gang, whatever its size."""
        self._stale.add(at)
        self._urgent_pods.add(at)
        self._urgent_with_gang.add(at)

    def members(self, identity: Identity) -> Collection[Address]:
        """The pods of a gang, none where there is no such gang."""
        return self._members.get(identity, ())

    def known(self, at: Address) -> Known:
        """The pod, which must be there."""
        return self._pods[at]

    def put(self, at: Address, body: Body) -> bool:
        """Take a pod as it is now; whether that says anything new."""
        known = self._pods.get(at)
        if known is not None and known.body is body:
            return False
        if what_it_holds(body) != (() if known is None else what_it_holds(known.body)):
            self._urgent_pods.add(at)
        uid = body["metadata"].get("uid")
        uid = uid if isinstance(uid, str) else ""
        spec = body.get("spec")
        if isinstance(spec, dict) and spec.get("nodeName"):
            self._assumed.pop(uid, None)
        if known is None:
            self._pods[at] = Known(body, uid)
        elif what_counts("Pod", known.body) == what_counts("Pod", body):
            known.body = body
            # What is not read yet was another body: of that nothing is told as of this version.
            is_read = at not in self._stale and at not in self._left_pods
            if known.pod is not None and is_read and not known.is_outdated:
                known.pod.adopt(body)
            if known.identity is not None:
                self.renewed.add(known.identity)
            return False
        else:
            if known.uid != uid:
                self._forget_uid(known.uid)
            known.take(body, uid)
        if uid:
            self._by_uid[uid] = at
        self._stale.add(at)
        return True

    def remove(self, at: Address) -> bool:
        """Forget a pod; whether it was known."""
        known = self._pods.pop(at, None)
        if known is None:
            return False
        self._forget_uid(known.uid)
        self._stale.discard(at)
        self._left_pods.discard(at)
        self._urgent_pods.discard(at)
        self._left_urgent.pop(at, None)
        self._urgent_with_gang.discard(at)
        self.unread.pop(at, None)
        self._watch(at, known, ())
        identity = known.identity
        self._leave(at, known)
        if identity is not None and (known.pod is None or known.is_outdated or known.pod.node):
            self._hasten(identity)
        return True

    def assume(self, uid: str, node: str, devices: tuple[int, ...], grant: Grant | None) -> None:
        """Let a pod count as bound to `node`; nothing where it is gone or bound already."""
        at = self._by_uid.get(uid)
        assumption = Assumption(node, devices, grant)
        if at is None or self._assumed.get(uid) == assumption:
            return
        spec = self._pods[at].body.get("spec")
        if isinstance(spec, dict) and spec.get("nodeName"):
            return
        self._assumed[uid] = assumption
        self._urge_pod(at)

    def release(self, uid: str) -> None:
        """Let a pod count as what its body says again."""
        if self._assumed.pop(uid, None) is not None:
            self._urge_pod(self._by_uid[uid])

    def opened(self, at: Address, now: float) -> None:
        """A pod, or its gang, has held itself back until now."""
        known = self._pods.get(at)
        if known is not None:
            known.opened = now
            self._stale.add(at)

    def owner_changed(self, at: Address, ref: OwnerRef) -> None:
        """An owner or a ResourceClaim came, went or says something new."""
        if (at[0], ref) in self._dependents:
            self._put_off.setdefault(at[0], {})[ref] = None

    def settle(self, now: float, room: float = math.inf, in_part: bool = False) -> None:
        """Find the gangs of pods that changed, and mark those gangs.

        Where there is `room` for so many pods and gangs alone, the rest is left. What decides which
        room of nodes is free is left as well where this is taken in `in_part`, with no reading of
        it yet: other schedulers bind pods of thousands of amounts.
        """
        self._take_put_off(now)
        self._room = room
        urgent, left = self._some_urgent(room if in_part else math.inf)
        some = urgent
        rest = self._stale - urgent - left
        room -= sum(self._pods[at].cost for at in urgent) if in_part else 0
        some |= self._left_pods.take(rest, room, lambda at: self._pods[at].cost)
        self._stale = left
        owners = self.owners_in(ObjectView(self._bodies, Report()))
        # In order, so that the same objects have the same plan.
        for at in sorted(some):
            known = self._pods[at]
            known.is_outdated = True
            pod = self.read(at, Report(), owners)
            claims = known.claims_of(pod)
            known.cost = known.own_cost + len(claims) // CLAIMS_A_POD
            # All that its owners say is gone through for each pod.
            known.cost += sum(len(said) for _, said in pod.owners.layers) // VALUES_A_POD
            self._watch(at, known, (*pod.owners.asked, *claims))
            identity = identity_of(pod)
            is_urgent = at in self._urgent_pods
            if identity != known.identity:
                # One that runs is in one gang in each reading, the old or the new one.
                is_urgent = is_urgent or bool(pod.node)
                if is_urgent and known.identity is not None:
                    self._hasten(known.identity)
                self._leave(at, known)
                self._join(at, known, identity)
            self.dirty.add(identity)
            if at in self._urgent_with_gang:
                self.urge([identity])
            elif is_urgent:
                self._hasten(identity)
            if is_urgent:
                self.unread[at] = identity
        self._urgent_pods &= left
        self._urgent_with_gang &= left

    def _some_urgent(self, room: float) -> tuple[set[Address], set[Address]]:
        """As many of the urgent pods as there is room for, and those that are left."""
        urgent = self._urgent_pods & self._stale
        # In order, so that the same objects are read in the same turns; who was left goes first.
        before = [at for at in self._left_urgent if at in urgent]
        in_order = (*before, *sorted(urgent.difference(before)))
        some = set[Address]()
        for at in in_order:
            if room <= 0:
                break
            self._left_pods.discard(at)
            some.add(at)
            room -= self._pods[at].cost
        numbers, self._left_urgent = self._left_urgent, {}
        for at in in_order[len(some) :]:
            if at not in numbers:
                self._lefts += 1
            self._left_urgent[at] = numbers.get(at, self._lefts)
        return some, urgent - some

    def _take_put_off(self, now: float) -> None:
        """Let what has changed be read again, as far as its namespace may have it."""
        self._allowance.settle(now)
        for namespace, refs in list(self._put_off.items()):
            # They take turns: what changes all the time would else leave nothing for the others.
            if namespace in self._unable and namespace not in self._served:
                continue
            while refs and self._allowance.has(namespace):
                ref, _ = refs.popitem()
                self._served.discard(namespace)
                self._allowance.charge(namespace, self._read_again(namespace, ref))
            if not refs:
                del self._put_off[namespace]

    def _read_again(self, namespace: str, ref: OwnerRef | None) -> int:
        """Mark the pods that depend on `ref`, or all of a namespace; what they cost."""
        if ref is not None:
            some = self._dependents.get((namespace, ref), set())
            self._stale |= some
            return sum(self._pods[at].cost for at in some)
        count = 0
        for identity in [one for one in self._members if one[0] == namespace]:
            self.dirty.add(identity)
            for at in self._members[identity]:
                self._pods[at].forget_read()
                count += self._pods[at].cost
        return count

    def read(self, at: Address, report: Report, owners: Owners) -> Pod:
        """The pod as it counts now."""
        known = self._pods[at]
        manifest = Manifest(report, SOURCE, "", "Pod", *at, known.body)
        pod = read_pod(manifest, at[1], owners)
        pod.opened = known.opened
        assumed = self._assumed.get(known.uid)
        if not pod.node and assumed is not None:
            pod.node, pod.devices, pod.grant = assumed.node, assumed.devices, assumed.grant
        return pod

    def _forget_uid(self, uid: str) -> None:
        self._by_uid.pop(uid, None)
        self._assumed.pop(uid, None)

    def _watch(self, at: Address, known: Known, asked: tuple[OwnerRef, ...]) -> None:
        """Note which owners the pod depends on."""
        if asked == known.asked:
            return
        for ref in known.asked:
            if self._is_followed(ref):
                key = (at[0], ref)
                self._dependents[key].discard(at)
                if not self._dependents[key]:
                    del self._dependents[key]
        for ref in asked:
            if self._is_followed(ref):
                self._dependents.setdefault((at[0], ref), set()).add(at)
        known.asked = asked

    def _is_followed(self, ref: OwnerRef) -> bool:
        kind = ref.group, ref.kind
        return kind in self._kinds or kind in (CLAIM, VOLUME_CLAIM)

    def _join(self, at: Address, known: Known, identity: Identity) -> None:
        known.identity = identity
        if identity not in self._members:
            self._members[identity] = {}
            self.dirty.update(self.names.add(identity))
        self._members[identity][at] = None

    def _leave(self, at: Address, known: Known) -> None:
        identity = known.identity
        if identity is None:
            return
        known.identity = None
        self.dirty.add(identity)
        del self._members[identity][at]
        if not self._members[identity]:
            del self._members[identity]
            self.dirty.update(self.names.drop(identity))
