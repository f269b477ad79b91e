"""The incremental reader: takes changes, gives readings."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from dataclasses import replace

from fourleaf.model.config.owner_kinds import DEFAULT_OWNER_KINDS, merged
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.crds.api import GROUP
from fourleaf.model.devices.held_devices import Grant
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Waiting
from fourleaf.model.problems import Problem
from fourleaf.model.readers.dra.holders import holders
from fourleaf.model.readers.dra.published import Published
from fourleaf.model.readers.gangs.drafts import KeptPlaces
from fourleaf.model.readers.gangs.minimum_size import MinimumSizes
from fourleaf.model.readers.gangs.names import Identity
from fourleaf.model.readers.gangs.needed_neighbours import needed_neighbours
from fourleaf.model.readers.gangs.read_gang import (
    Situation,
    all_that_stand,
)
from fourleaf.model.readers.live.beside_others import BesideOthers
from fourleaf.model.readers.live.config_as_read import are_read_alike
from fourleaf.model.readers.live.fabric_cache import FabricCache
from fourleaf.model.readers.live.fabric_updates import FABRIC_UPDATES
from fourleaf.model.readers.live.gang_cache import GangCache, used_with
from fourleaf.model.readers.live.gang_reads import GangReads
from fourleaf.model.readers.live.object_cache import (
    GROUP_KINDS,
    Address,
    ObjectCache,
    ObjectView,
    address_of,
    what_counts,
)
from fourleaf.model.readers.live.pod_cache import MOST_PODS_AT_ONCE, PodCache
from fourleaf.model.readers.live.reading import (
    LiveReading,
    Runners,
)
from fourleaf.model.readers.live.storage_cache import StorageCache
from fourleaf.model.readers.live.waiting_gangs import WaitingGangs
from fourleaf.model.readers.objects.dra_kinds import CLAIM
from fourleaf.model.readers.objects.inventory import namespace_in
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.objects.owners import OwnerRef
from fourleaf.model.readers.objects.priority_classes import Priorities
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.storage_kinds import STORAGE_KINDS
from fourleaf.model.readers.pods.gpu_claims import KIND
from fourleaf.model.readers.pods.pods import Requests
from fourleaf.model.readers.text.sources import without_collection
from fourleaf.model.running_gang import EvictionLimit, StandingGang
from fourleaf.model.snapshot import DEFAULTS, RunningPod, Snapshot

POD = ("", "Pod")
PRIORITY_CLASS = ("scheduling.k8s.io", "PriorityClass")
GPU_CLAIM = (GROUP, KIND)

BESIDE_GANGS = "beside gangs"
"""Where problems are found that are of no one gang."""
AGE_SLACK_SECONDS = 1.0
"""Seconds by which a gang may be older than since it could start: its pods come one by one."""


class LiveReader:
    """A changing cluster, always as if all of it had been read at once.

    Objects are given by API group and kind; those that no plan depends on are left out, and so
    is an object without a name. Bodies are kept, not copied: none may be changed. Nothing is
    kept of objects that are gone. What is wrong with an object is a problem of the readings
    for as long as it is, and never an exception.
    """

    def __init__(self) -> None:
        self._config = DEFAULTS
        self._owner_kinds = DEFAULT_OWNER_KINDS
        self._bodies = ObjectCache()
        self._ground = FabricCache(DEFAULTS)
        self._table = PodCache(self._bodies)
        self._standing = GangCache()
        self._priorities = Priorities(ObjectView(self._bodies, Report()))
        self._priority_problems: tuple[Problem, ...] = ()
        self._priorities_are_stale = False
        self._claims_changed = False
        self._reading: LiveReading | None = None
        self._storage = StorageCache(self._bodies, self._table, self._standing.attached)
        self._turns_changed = False
        self._is_outdated = self._others_run = False
        """Whether the last reading is, and whether other pods run since."""
        self._reads = GangReads(self._table, self._bodies, self._standing.problems)
        self._mixed = False
        self._kept: Mapping[GangKey, KeptPlaces] = {}
        self._taken_in_at: float | None = None
        self._waiting = WaitingGangs()
        self._beside = BesideOthers()

    def put(self, group: str, kind: str, body: Body) -> bool:
        """Take an object as it is now; whether anything changed that a plan depends on."""
        at = address_of(kind, body)
        if at is None:
            return False
        if part := FABRIC_UPDATES.get((group, kind)):
            return part.put(self._ground, at[1], body)
        if (group, kind) == POD:
            return self._table.put(at, body)
        return self._is_kept(group, kind) and self._put_other(group, kind, at, body)

    def remove(self, group: str, kind: str, namespace: str, name: str) -> bool:
        """Forget an object; whether it was known."""
        at = namespace_in(kind, {"namespace": namespace}), name
        if part := FABRIC_UPDATES.get((group, kind)):
            return part.remove(self._ground, name)
        if (group, kind) == POD:
            # Its room is free at once, whenever its gang is read.
            if self._standing.take_out(at):
                self._is_outdated = self._others_run = True
            return self._table.remove(at)
        kept = self._is_kept(group, kind)
        known = kept and self._bodies.of(group, kind).pop(at, None) is not None
        if known:
            self._spread(group, kind, at)
        return known

    def replace_all(self, group: str, kind: str, bodies: Iterable[Body]) -> bool:
        """Take `bodies` for all objects of the kind; whether anything changed."""
        new = {address_of(kind, body): body for body in bodies}
        gone = [at for at in self._addresses(group, kind) if at not in new]
        changed = [self.remove(group, kind, *at) for at in gone]
        changed += [self.put(group, kind, body) for body in new.values()]
        return any(changed)

    def assume(
        self, uid: str, node: str, devices: tuple[int, ...] = (), grant: Grant | None = None
    ) -> None:
        """Let a pod count as bound to `node` until it shows a node, is released, or is gone.

        It counts as having these `devices` of the node, and what it was granted. Nothing happens
        where no pod has that UID, or the pod shows a node already.
        """
        self._table.assume(uid, node, devices, grant)

    def release(self, uid: str) -> None:
        """Let a pod count as what its object says again."""
        self._table.release(uid)

    def opened(self, namespace: str, name: str, now: float) -> None:
        """Let a pod count as waiting since `now`: it, or its gang, held itself back until then."""
        self._table.opened((namespace, name), now)

    def date_anew(self, now: float) -> bool:
        """Let gangs that held themselves back until now count as waiting since `now`; whether any.

        The oldest member would say since when, and a tenant that leaves out the last one, or writes
        what makes no sense, would have gangs that are first at any moment.
        """
        free, self._standing.come_free = self._standing.come_free, []
        late = [one for one in free if one.gang.created < now - AGE_SLACK_SECONDS]
        for draft in late:
            for pod in draft.waiting:
                self.opened(pod.namespace, pod.name, now)
        return bool(late)

    def configure(self, config: SchedulerConfig) -> None:
        """Read by another config: everything anew, where objects mean something else under it."""
        if config == self._config:
            return
        if are_read_alike(config.spec, self._config.spec):
            self._config = config
            self._ground.take_config(config)
        else:
            more = config.spec.owner_kinds
            if more != self._config.spec.owner_kinds:
                known, self._owner_kinds = self._owner_kinds, merged(more)
                for kind in known:
                    if kind not in self._owner_kinds:
                        self._bodies.of(*kind).clear()
                self._table.configure(self._owner_kinds)
            self._config = config
            self._ground.configure(config)
            self._table.read_all_anew()

    def device_names(self, node: str) -> tuple[DeviceName, ...]:
        """The devices of a node that can be claimed, by their numbers."""
        return self._ground.device_names(node)

    @property
    def drivers(self) -> Published:
        """What drivers publish."""
        return self._ground.drivers

    def lacks(self, node: str, names: Iterable[DeviceName], held: bool) -> str:
        """The first device that its driver has taken from the node, "" where there is none.

        A driver that is about to publish anew has taken nothing yet. `held`: a claim has them.
        """
        return self._ground.lacks(node, names, held)

    def judge(
        self, withheld: frozenset[str], failures: Mapping[str, int], sealed: frozenset[str]
    ) -> bool:
        """Close the nodes `withheld` and `sealed` to all pods; whether that says anything new.

        `failures` are the decayed failure rates of nodes, in thousandths.
        """
        return self._ground.judge(withheld, failures, sealed)

    def standing(self, now: float, dead: Container[str], everyone: bool) -> list[StandingGang]:
        """The gangs that run, as they would stand if all on the nodes `dead` were lost.

        All of them where `everyone` is wanted; else those that lose members, lack some that
        wait, or may be moved.
        """
        with without_collection():
            self._settled(now, MOST_PODS_AT_ONCE)
            return list(self._stands(now, dead, everyone))

    def _stands(self, now: float, dead: Container[str], everyone: bool) -> Iterator[StandingGang]:
        situation = self._situation(now)
        sizes = MinimumSizes(ObjectView(self._bodies, Report()), situation.priorities, True)
        table = self._table
        gangs = (
            (one, [pod for at in table.members(one) if (pod := table.known(at).pod)])
            for one in table.identities
        )
        return all_that_stand(gangs, sizes, situation, dead, everyone)

    def needed(self, gang: GangKey) -> tuple[EvictionLimit, ...]:
        """How many of the pods near which a waiting gang must be may be evicted."""
        draft = next((one for one in self._waiting.in_order if one.gang.key == gang), None)
        ground, standing = self._ground, self._standing
        return needed_neighbours(draft, standing.neighbours, ground.nodes) if draft else ()

    def reading(self, now: float, room: float = math.inf) -> LiveReading:
        """The cluster as it is known now, `now` in seconds since the epoch.

        Where more pods that wait have changed than there is `room` for, some are read later.
        """
        with without_collection():
            return self._settled(now, room)

    def urge(self, pods: Iterable[Address]) -> None:
        """Let the next reading have these pods as they are, with their gangs, whatever is left."""
        self._table.urge_pods(pods)

    def keep_places(self, kept: Mapping[GangKey, KeptPlaces]) -> None:
        """Let these be all gangs for which places are kept while members of them move."""
        if kept != self._kept:
            both = self._kept.keys() | kept.keys()
            others = [key for key in both if kept.get(key) != self._kept.get(key)]
            self._kept = dict(kept)
            called = self._table.names.called
            self._table.urge(identity for key in others for identity in called(key))

    def take_in(self, now: float) -> bool:
        """Read some of what has changed, so that a reading is quick; whether there is more."""
        with without_collection():
            self._take_in(now, MOST_PODS_AT_ONCE, in_part=True)
        return self._table.is_cut_short

    @property
    def bound_left(self) -> range:
        """Numbers of the pods on nodes that are left: a reading takes in all of them at once."""
        return self._table.bound_left

    @property
    def is_behind(self) -> bool:
        """Whether something that has changed is left to a later reading."""
        return self._table.is_behind or self._ground.is_behind

    def is_behind_in(self, namespace: str) -> bool:
        """Whether something that has changed in a namespace is left to a later reading."""
        return self._table.is_behind_in(namespace)

    def arrivals(self, now: float) -> int:
        """How often gangs have become fit to be planned, up to `now`; see `LiveReading`."""
        with without_collection():
            self._take_in(now, MOST_PODS_AT_ONCE, in_part=True)
        return self._standing.arrivals

    def _settled(self, now: float, room: float) -> LiveReading:
        last = self._reading
        self._take_in(now, room)
        self._renew()
        if last is None or self._is_outdated or last.snapshot.config is not self._config:
            self._beside.turns.something_changed(self._waiting.in_order, now)
            reading = self._compose(now, self._others_run)
        elif self._turns_changed:
            reading = self._compose(now, False)
        elif self._waiting.facts is not last.gangs:
            reading = replace(last.at(now), gangs=self._waiting.facts)
        else:
            reading = last.at(now)
        self._turns_changed = self._is_outdated = self._others_run = False
        self._reading = reading
        return reading

    def _take_in(self, now: float, room: float = math.inf, in_part: bool = False) -> None:
        """Read what has changed, without making a reading of it; in part where `room` ends."""
        table = self._table
        if now != self._taken_in_at:
            self._taken_in_at = now
            table.urge(self._standing.undated)
        changed = self._settle_ground(now)
        changed = any([changed, self._settle_priorities(), self._settle_claims()])
        changed = changed or self._standing.attached.changed
        table.settle(now, room, in_part)
        self._is_outdated = self._is_outdated or changed
        while (due := table.due()) or table.unread:
            self._is_outdated = True
            self._others_run = self._read_gangs(due, now) or self._others_run
            self._read_alone(now)
            # Maps may give nodes devices, and so change the fabric that gangs are read against.
            self._is_outdated = self._settle_mapped(now) or self._is_outdated

    def _renew(self) -> None:
        """Take the facts of gangs anew of which something is new that no plan depends on."""
        renewed, drafted = self._table.renewed, self._standing.drafted
        self._waiting.renew(draft for one in renewed for draft in drafted.get(one, ()))
        renewed.clear()

    def not_placed(self, waiting: Iterable[Waiting], now: float) -> bool:
        """A plan found no place for these gangs; whether others may go ahead of one of them now."""
        changed = self._beside.turns.not_placed(waiting, now)
        self._turns_changed = self._turns_changed or changed
        return changed

    def _settle_ground(self, now: float) -> bool:
        changed = self._ground.settle(now)
        if self._ground.mixed != self._mixed:
            self._mixed = self._ground.mixed
            self._table.urge(self._standing.drafted)
        return changed

    def _settle_mapped(self, now: float) -> bool:
        """Give nodes the devices that maps name there; whether the fabric has changed.

        Where pods hold other devices now, others may have other lines of their maps.
        """
        mapped = self._standing.mapped
        sharing = self._standing.sharing
        # Within the share of their namespace: one tenant may have thousands, for any node.
        self._table.dirty |= {one for node in mapped.shifted for one in sharing.get(node, ())}
        mapped.shifted.clear()
        if not mapped.touched:
            return False
        for node in mapped.touched:
            self._ground.put_mapped(node, mapped.on(node), now)
        mapped.touched.clear()
        return self._settle_ground(now)

    def _read_alone(self, now: float) -> None:
        """Read pods on nodes alone whose gangs are read later."""
        if unread := self._table.unread:
            self._table.unread, self._others_run = {}, True
            situation = self._situation(now)
            for at, identity in unread.items():
                self._standing.put_pod(identity, at, self._reads.alone(at, situation))

    def _settle_claims(self) -> bool:
        changed = self._claims_changed or self._ground.renewed
        if self._ground.renewed:
            self._table.read_all_anew()
        self._claims_changed = self._ground.renewed = False
        return changed

    def _settle_priorities(self) -> bool:
        if not self._priorities_are_stale:
            return False
        self._priorities_are_stale = False
        report = Report()
        self._priorities = Priorities(ObjectView(self._bodies, report))
        self._priority_problems = report.problems
        self._table.read_all_anew()
        return True

    def _read_gangs(self, due: Set[Identity], now: float) -> bool:
        """Read these gangs, of which something changed; whether other pods run now."""
        situation, drafted = self._situation(now), self._standing.drafted
        in_order = sorted(due)
        before = [draft for one in in_order for draft in drafted.get(one, ())]
        changed = self._standing.keep({one: self._reads.whole(one, situation) for one in in_order})
        now_drafted = [draft for one in in_order for draft in drafted.get(one, ())]
        self._waiting.replace(before, now_drafted)
        return changed

    def _situation(self, now: float) -> Situation:
        spec = self._config.spec
        return Situation(
            spec,
            self._priorities,
            Requests(spec),
            self._table.names,
            self._mixed,
            now,
            ObjectView(self._bodies, Report()),
            self._ground.claimables,
            self._storage.capacities,
            self._ground.limits.limited,
            True,
            self._standing.mapped.held_on,
            self._kept,
        )

    def _compose(self, now: float, other_pods_run: bool) -> LiveReading:
        last, report = self._reading, Report()
        standing, network = self._standing, self._config.spec.network
        gangs, by_key = self._beside.gangs(
            self._waiting, standing.neighbours, self._ground, network, report
        )
        runners = None if last is None or other_pods_run else last.runners
        if runners is None:
            runners = Runners(tuple(standing.running.values()), dict(standing.uids))
        claims = self._bodies.of(*CLAIM).items()
        others = tuple(holders(claims, runners.running, self._ground.places)) if claims else ()
        others += tuple(one for there in self._attached().values() for one in there)
        snapshot = Snapshot(
            fabric=self._ground.fabric,
            running=(*runners.running, *others) if others else runners.running,
            gangs=gangs,
            config=self._config,
            now=now,
        )
        snapshot.take_used(used_with(standing.used, others))
        waiting = self._waiting
        snapshot.take_gangs(by_key, waiting.namespaces, waiting.any_demands)
        problems, facts = self._problems(report), self._waiting.facts
        return LiveReading(snapshot, problems, facts, runners, standing.arrivals)

    def _attached(self) -> Mapping[str, tuple[RunningPod, ...]]:
        """Node -> stand-ins for the volumes there that count with no pod."""
        attached, limits = self._standing.attached, self._ground.limits
        for node in self._ground.relimited:
            attached.limit_changed(node)
        self._ground.relimited.clear()
        return attached.stand_ins(
            ObjectView(self._bodies, Report()), lambda node: dict(limits.on(node))
        )

    def _problems(self, report: Report) -> tuple[Problem, ...]:
        """All problems, those of gangs side by side in `report`."""
        known = self._standing.problems
        beside = (*self._ground.problems, *self._priority_problems, *report.problems)
        known.keep(BESIDE_GANGS, beside)
        return known.in_order()

    def _put_other(self, group: str, kind: str, at: Address, body: Body) -> bool:
        bodies = self._bodies.of(group, kind)
        known = bodies.get(at)
        bodies[at] = body
        changed = known is None or what_counts(kind, known) != what_counts(kind, body)
        if changed:
            self._spread(group, kind, at)
        return changed

    def _spread(self, group: str, kind: str, at: Address) -> None:
        """Mark what depends on an owner, a PodGroup, a claim or a PriorityClass."""
        namespace, name = at
        if (group, kind) in self._owner_kinds:
            self._table.owner_changed(at, OwnerRef(group, kind, name))
        elif kind == "PodGroup":
            dialect = GROUP_KINDS[group]
            if self._table.members(one := (namespace, dialect, name)):
                self._table.dirty.add(one)
        elif kind == KIND:
            self._table.read_anew(namespace)
        elif (group, kind) in STORAGE_KINDS:
            self._storage.changed(group, kind, at)
        elif (group, kind) == CLAIM:
            self._claims_changed = True
            self._ground.asks.forget(kind, *at)
            self._table.owner_changed(at, OwnerRef(group, kind, name))
        else:
            self._priorities_are_stale = True

    def _addresses(self, group: str, kind: str) -> list[Address]:
        if part := FABRIC_UPDATES.get((group, kind)):
            return [("", name) for name in part.names(self._ground)]
        if (group, kind) == POD:
            return self._table.addresses
        return list(self._bodies.of(group, kind)) if self._is_kept(group, kind) else []

    def _is_kept(self, group: str, kind: str) -> bool:
        pod_group = kind == "PodGroup" and group in GROUP_KINDS
        others = (PRIORITY_CLASS, GPU_CLAIM, CLAIM, *STORAGE_KINDS)
        return pod_group or (group, kind) in others or (group, kind) in self._owner_kinds
