"""Cluster cache: what the informers bring, and what the scheduler assumes of its own writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import orjson

from fourleaf.k8s_bridge.cache.known_budgets import KnownBudgets
from fourleaf.k8s_bridge.cache.node_seen import NodeSeen, node_seen
from fourleaf.k8s_bridge.cache.pods_by_controller import PodsByController
from fourleaf.k8s_bridge.cache.tombstones import Tombstones
from fourleaf.k8s_bridge.cache.unknown_nodes import UnknownNodes
from fourleaf.k8s_bridge.cluster.kinds import (
    DEVICE_CLASSES,
    DISRUPTION_BUDGETS,
    NODES,
    PODS,
    RESOURCE_CLAIMS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.protocol import Body, Listing
from fourleaf.k8s_bridge.cluster.slim import object_of
from fourleaf.k8s_bridge.informers import Absent, Change, Put, Removed, Replaced
from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.devices.names import DeviceName, numbers_of
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Waiting
from fourleaf.model.readers.dra.published import Published
from fourleaf.model.readers.gangs.drafts import KeptPlaces
from fourleaf.model.readers.live import LiveReader, LiveReading
from fourleaf.model.readers.live.fabric_cache import used_like
from fourleaf.model.readers.live.pod_cache import MOST_PODS_AT_ONCE
from fourleaf.model.readers.pods.disruption_budgets import budget_limits
from fourleaf.model.running_gang import EvictionLimit, PodName, StandingGang
from fourleaf.model.snapshot import DEFAULTS, Snapshot

OnPod: TypeAlias = Callable[[str], None]


class ClusterCache:
    """Everything observed.

    `objects` are all objects, by kind, namespace and name; `nodes` is what is known of each node
    beside what is read of it, by name; `config` is in force. `changed` is set when something has
    happened that a plan depends on. Objects never go back in time: what is older than what is known
    of an object is left out, and so is a list that is older than one that was taken for complete.
    What is gone stays gone, whatever older answer arrives after that.
    """

    def __init__(self, clock: Clock) -> None:
        self.changed = asyncio.Event()
        self.nodes_changed = asyncio.Event()
        self._clock = clock
        self.objects: dict[Kind, dict[tuple[str, str], Body]] = {}
        self._reader = LiveReader()
        self.config = DEFAULTS
        self._fabric = Fabric(())
        self._pods: dict[str, PodSeen] = {}
        self._uids: dict[tuple[str, str], str] = {}
        self._made = PodsByController()
        self._budgets = KnownBudgets()
        self._complete: dict[Kind, int] = {}
        self._gone = Tombstones(clock)
        self.nodes: dict[str, NodeSeen] = {}
        self._unknown = UnknownNodes(clock)
        self._withheld: frozenset[str] = frozenset()
        self._failures: Mapping[str, int] = {}
        self._doubted: frozenset[str] = frozenset()
        self._sealed: tuple[frozenset[str], frozenset[GangKey]] = (frozenset(), frozenset())
        self.hung_nodes: frozenset[str] = frozenset()
        """Sealed nodes that are so until a page is written, which may be any moment."""
        self.kept_places: Callable[[], Mapping[GangKey, KeptPlaces]] = dict
        """Places that are kept while members of gangs move, where this replica leads."""
        self._listeners: list[OnPod] = []
        self._last_change = clock.monotonic()

    def listen(self, on_pod: OnPod) -> None:
        """Call `on_pod` with the UID of every pod to which something happens."""
        self._listeners.append(on_pod)

    def mute(self, on_pod: OnPod) -> None:
        """Call it no more."""
        self._listeners.remove(on_pod)

    @property
    def quiet(self) -> float:
        """Seconds since something changed."""
        return self._clock.monotonic() - self._last_change

    def on_change(self, kind: Kind, change: Change) -> None:
        """Apply a reflector's change."""
        match change:
            case Put(body):
                self.take(kind, body)
            case Removed(body):
                self._remove(kind, body)
            case Replaced(items, version, _):
                self.take_all(kind, Listing(items, version))
            case Absent():
                self.objects.pop(kind, None)
                self._forget_budgets(kind)
                self._note(self._reader.replace_all(kind.group, kind.name, []))

    def take_all(self, kind: Kind, listing: Listing) -> None:
        """Take a list for complete: what is not on it, and was known before it, is gone."""
        version = int(listing.version)
        if version < self._complete.get(kind, 0):
            return
        self._complete[kind] = version
        known = self.objects.get(kind, {})
        bodies = self._brought_up(known, listing.items, version)
        opened = [body for body in bodies.values() if kind is PODS and self._has_opened(body)]
        self.objects[kind] = bodies
        self._forget_budgets(kind)
        self._note(self._reader.replace_all(kind.group, kind.name, bodies.values()))
        for body in opened:
            self._reader.opened(*_key(body), self._clock.wall())
        if kind is PODS:
            before = self._pods
            self._pods, self._made = {}, PodsByController()
            for at, body in bodies.items():
                seen = before.get(_uid(body))
                if seen is None or known.get(at) is not body:
                    seen = self._as_bound(pod_seen(body), seen)
                self._pods[seen.pod.uid] = seen
                self._made.add(seen.pod.uid, seen.controller)
            self._uids = {(s.pod.namespace, s.pod.name): uid for uid, s in self._pods.items()}
            self._notify(before.keys() | self._pods.keys())
        elif kind is NODES:
            self.nodes = {}
            for body in bodies.values():
                self._see_node(body)
            self._unknown.keep(self.nodes)
            self.nodes_changed.set()

    def _brought_up(
        self, known: Mapping[tuple[str, str], Body], items: Iterable[Body], version: int
    ) -> dict[tuple[str, str], Body]:
        """The objects of a list of that version, and what is known of them that is newer.

        One that is as it was known is the same object, so that it is not looked at again.
        """
        newer = {key: body for key, body in known.items() if _version(body) > version}
        listed = {_key(body): body for body in items if _uid(body) not in self._gone}
        here = {
            key: before if (before := known.get(key)) and _are_one(before, body) else body
            for key, body in listed.items()
        }
        return here | newer

    def _as_bound(self, seen: PodSeen, known: PodSeen | None) -> PodSeen:
        """The pod, on the node that we have bound it to where `seen` is older than that."""
        if known is None or not known.node or seen.node:
            return seen
        return replace(seen, node=known.node, devices=known.devices)

    def take(self, kind: Kind, body: Body) -> None:
        """Take one object as it stands, unless it is known better."""
        if _uid(body) in self._gone:
            return
        if kind is PODS:
            if not self._see_pod(body):
                return
        elif self._is_older(kind, body):
            return
        opened = kind is PODS and self._has_opened(body)
        self.objects.setdefault(kind, {})[_key(body)] = body
        self._forget_budgets(kind, _key(body))
        changed = self._reader.put(kind.group, kind.name, body)
        if opened:
            self._reader.opened(*_key(body), self._clock.wall())
        if kind is NODES:
            self._see_node(body)
            if changed:
                self.nodes_changed.set()
        self._note(changed)

    def took(self, body: Body) -> None:
        """Take a pod as a write of ours left it."""
        self.take_written(PODS, body)

    def take_written(self, kind: Kind, body: Body) -> None:
        """Take an object as a write of ours left it: of the whole of it, what lists carry.

        All else would look like a change, and once more when the watch brings it.
        """
        self.take(kind, object_of(kind, orjson.dumps(body)))

    def _remove(self, kind: Kind, body: Body) -> None:
        metadata = body["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        self._gone.add(_uid(body))
        if kind is PODS:
            uid = metadata["uid"]
            self._made.discard(uid)
            if self._pods.pop(uid, None) is None:
                return
            if self._uids.get((namespace, name)) != uid:
                # Another pod of that name has taken its place already.
                self._notify([uid])
                return
            del self._uids[namespace, name]
        self.objects.get(kind, {}).pop((namespace, name), None)
        self._forget_budgets(kind, (namespace, name))
        changed = self._reader.remove(kind.group, kind.name, namespace, name)
        if kind is PODS:
            self._notify([metadata["uid"]])
        elif kind is NODES:
            self.nodes.pop(name, None)
            self._unknown.forget(name)
            self.nodes_changed.set()
        self._note(changed)

    def seen(self, uid: str) -> PodSeen | None:
        """The pod, None where it is gone."""
        return self._pods.get(uid)

    def named(self, namespace: str, name: str) -> PodSeen | None:
        """The pod of that name, None where there is none."""
        return self._pods.get(self._uids.get((namespace, name), ""))

    def made_by(self, namespace: str, controller: str) -> Iterator[PodSeen]:
        """The pods that a controller of a namespace has made, by its UID.

        Those of other namespaces may name it too, which cannot have made them.
        """
        pods = (self._pods[uid] for uid in self._made.of(controller))
        return (pod for pod in pods if pod.pod.namespace == namespace)

    def live_pods(self, namespace: str, controller: str) -> int:
        """How many of these run or wait."""
        made = self.made_by(namespace, controller)
        return sum(not pod.finished and not pod.deleting for pod in made)

    def usable(self, node: str) -> bool:
        """Whether the node exists, is ready, and is not withheld."""
        seen = self.nodes.get(node)
        return seen is not None and seen.ready == "True" and node not in self._withheld

    def is_doubted(self, node: str) -> bool:
        """Whether a node is not usable for now, while nothing says that its pods are lost.

        One of which alone nothing is known is so for a while: its host may answer for ever where
        its kubelet is off.
        """
        is_new = self._unknown.is_new(node) and node not in self._withheld
        return node in self._doubted or is_new

    def judge(
        self,
        withheld: frozenset[str],
        failures: Mapping[str, int],
        doubted: frozenset[str] = frozenset(),
    ) -> None:
        """Keep plans off the nodes `withheld`; `failures` are rates by node, in thousandths.

        Those `doubted` are so only as most nodes are silent.
        """
        self._withheld, self._failures, self._doubted = withheld, failures, doubted
        if self._reader.judge(withheld, failures, self._sealed[0]):
            self.nodes_changed.set()
            self._note(True)

    def seal(
        self,
        nodes: frozenset[str],
        gangs: frozenset[GangKey],
        hung: frozenset[str] = frozenset(),
    ) -> None:
        """Let nothing new be planned on these nodes, and these gangs stand where they stand.

        What was decided for these nodes goes on: they are as `usable` as they were. `hung` are
        those that are likely to be back soon.
        """
        self.hung_nodes = hung
        if (nodes, gangs) != self._sealed:
            self._sealed = nodes, gangs
            self.judge(self._withheld, self._failures, self._doubted)
            self._note(True)

    def once_written(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot` as it will be once the pages that hang are written: their nodes are open."""
        nodes = snapshot.fabric.nodes
        hung = [nodes[name] for name in sorted(self.hung_nodes) if name in nodes]
        opened = [replace(node, sealed=False) for node in hung if self.usable(node.name)]
        fabric = used_like(snapshot.fabric, opened)
        return snapshot if fabric is snapshot.fabric else replace(snapshot, fabric=fabric)

    def standing(self, dead: Container[str], everyone: bool = False) -> list[StandingGang]:
        """The gangs that run, as they would stand without the nodes `dead`.

        All of them where `everyone` is wanted; else those that lose members, lack some that
        wait, or may be moved. Without those that are sealed.
        """
        found = self._reader.standing(self._clock.wall(), dead, everyone)
        return [one for one in found if one.gang.key not in self._sealed[1]]

    def eviction_limits(self, pods: Iterable[PodName]) -> tuple[EvictionLimit, ...]:
        """What disruption budgets say of these pods."""
        pods, bodies = tuple(pods), self.objects.get(PODS, {})
        spaces = {space for space, _ in pods}
        budgets = self._budgets.of(self.objects.get(DISRUPTION_BUDGETS, {}), spaces)
        return budget_limits(budgets, ((pod, bodies[pod]) for pod in pods if pod in bodies))

    def _forget_budgets(self, kind: Kind, at: tuple[str, str] | None = None) -> None:
        """Forget what was read of one budget, None for those that are gone, if it is of one."""
        if kind is DISRUPTION_BUDGETS:
            if at is None:
                self._budgets.keep(self.objects.get(kind, {}))
            else:
                self._budgets.forget(at)

    def needed(self, gang: GangKey) -> tuple[EvictionLimit, ...]:
        """How many of the pods near which a waiting gang must be may be evicted."""
        return self._reader.needed(gang)

    def running_on(self, node: str) -> Iterator[tuple[GangKey, Member]]:
        """The pods of ours that are bound to `node`, with the gangs that they belong to."""
        # Of pods that wait nothing is asked, and this is asked for each node.
        reading = self._reader.reading(self._clock.wall(), room=0)
        for gang, uid in reading.ours_on(node):
            seen = self._pods.get(uid)
            if seen is not None and seen.node == node and not seen.finished:
                yield gang, Member(seen.pod, node, seen.devices)

    def bound(self, member: Member) -> None:
        """We have bound the member; the watch will say so later."""
        seen = self._pods.get(member.pod.uid)
        if seen is not None and not seen.node:
            self._pods[member.pod.uid] = replace(seen, node=member.node, devices=member.devices)
        self.assume(member)

    def assume(self, member: Member) -> None:
        """Count the member as standing on its node, whether it is bound yet or not."""
        self._reader.assume(member.pod.uid, member.node, self.numbers_of(member), member.grant)

    def numbers_of(self, member: Member) -> tuple[int, ...]:
        """The devices of a member by their numbers now."""
        return (
            *member.devices,
            *numbers_of(member.claimed, self._reader.device_names(member.node)),
        )

    @property
    def drivers(self) -> Published:
        """What drivers publish."""
        return self._reader.drivers

    def lacks(self, node: str, names: Sequence[DeviceName], held: bool) -> str:
        """The first of these devices that its driver has taken from the node, "" without one."""
        return self._reader.lacks(node, names, held)

    def device_class(self, name: str) -> Body | None:
        """The DeviceClass, None where there is none."""
        return self.objects.get(DEVICE_CLASSES, {}).get(("", name))

    def took_claim(self, body: Body) -> None:
        """Take a ResourceClaim as a write of ours left it."""
        self.take_written(RESOURCE_CLAIMS, body)

    def forget(self, member: Member) -> None:
        """The member is no longer on its way to its node."""
        self._reader.release(member.pod.uid)
        self._note(True)

    def configure(self, config: SchedulerConfig) -> None:
        """Read everything by another config."""
        self.config = config
        self._reader.configure(config)
        self.nodes_changed.set()
        self._note(True)

    def not_placed(self, waiting: Iterable[Waiting]) -> None:
        """A plan found no place for these gangs; those that wait for one of them may go ahead."""
        self._note(self._reader.not_placed(waiting, self._clock.wall()))

    def take_in(self) -> bool:
        """Read some of what has changed, so that a reading is quick; whether there is more."""
        return self._reader.take_in(self._clock.wall())

    @property
    def bound_left(self) -> range:
        """Numbers of the pods on nodes that are left so far, of which a reading leaves none."""
        return self._reader.bound_left

    def reading_with(self, pods: Iterable[tuple[str, str]]) -> LiveReading:
        """A reading that leaves none of these pods for later, by namespace and name."""
        self._reader.urge(pods)
        return self.reading()

    def reading(self) -> LiveReading:
        """What there is to plan, now: of thousands of pods that have come, some are left for later.

        `take_in` before it leaves none.
        """
        now = self._clock.wall()
        self._reader.keep_places(self.kept_places())
        reading = self._reader.reading(now, MOST_PODS_AT_ONCE)
        if self._reader.date_anew(now):
            reading = self._reader.reading(now, MOST_PODS_AT_ONCE)
        if self._reader.is_behind:
            # What is left is read in a while, though nothing else changes by then.
            self.changed.set()
        # Also what is no Node says which nodes there are: inventories and device maps.
        if reading.snapshot.fabric is not self._fabric:
            self._fabric = reading.snapshot.fabric
            self.nodes_changed.set()
        return reading

    def is_behind_in(self, namespace: str) -> bool:
        """Whether pods of a namespace are there that a reading does not have yet."""
        return self._reader.is_behind_in(namespace)

    def arrivals(self) -> int:
        """How often gangs have become fit to be planned; that of a reading is as of then."""
        return self._reader.arrivals(self._clock.wall())

    def _has_opened(self, body: Body) -> bool:
        """Whether a pod had scheduling gates when it was seen last, and has none any more."""
        known = self.objects.get(PODS, {}).get(_key(body))
        return known is not None and _uid(known) == _uid(body) and _gated(known) > _gated(body)

    def _see_pod(self, body: Body) -> bool:
        """Note a pod; False where it is no newer than what is known."""
        seen = pod_seen(body)
        uid, version = seen.pod.uid, int(seen.pod.version)
        known = self._pods.get(uid)
        if known is not None and int(known.pod.version) >= version:
            return False
        if known is None and version <= self._complete.get(PODS, 0):
            return False
        key = (seen.pod.namespace, seen.pod.name)
        other = self._uids.get(key)
        if other is not None and other != uid:
            newer = self._pods.get(other)
            if newer is not None and int(newer.pod.version) > version:
                return False
            self._pods.pop(other, None)
            self._made.discard(other)
            self._notify([other])
        self._pods[uid], self._uids[key] = self._as_bound(seen, known), uid
        self._made.add(uid, seen.controller)
        self._notify([uid])
        return True

    def _is_older(self, kind: Kind, body: Body) -> bool:
        """Whether an object is older than what is known under its name."""
        known = self.objects.get(kind, {}).get(_key(body))
        return known is not None and _version(known) > _version(body)

    def _see_node(self, body: Body) -> None:
        name = body["metadata"]["name"]
        self.nodes[name] = node_seen(body)
        self._unknown.see(name, self.nodes[name].ready)

    def _notify(self, uids: Iterable[str]) -> None:
        for uid in uids:
            for listener in self._listeners:
                listener(uid)

    def _note(self, changed: bool) -> None:
        if changed:
            self._last_change = self._clock.monotonic()
            self.changed.set()


def _key(body: Body) -> tuple[str, str]:
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _uid(body: Body) -> str:
    return str(body["metadata"].get("uid", ""))


def _are_one(before: Body, body: Body) -> bool:
    """Whether an object is there in the same version."""
    metadata, known = body["metadata"], before["metadata"]
    return bool(
        metadata.get("uid") == known.get("uid")
        and metadata["resourceVersion"] == known["resourceVersion"]
    )


def _gated(body: Body) -> bool:
    return bool((body.get("spec") or {}).get("schedulingGates"))


def _version(body: Body) -> int:
    return int(body["metadata"]["resourceVersion"])
