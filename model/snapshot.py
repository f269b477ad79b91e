"""Everything a solve needs to know, at one moment."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey, OwnerKey, Replicas, replicas_of
from fourleaf.model.plan import Move, Placement, Plan
from fourleaf.model.resources import Resources, counted, free_devices, minus, total
from fourleaf.model.running_gang import EvictionLimit, StandingGang

DEFAULTS = SchedulerConfig()
"""The config where none is given."""


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod that holds room on a node, ours or not.

    `gang` is set where it belongs to one. `bandwidth` in Mbit/s is what its gang asked
    for on each node. `ends` is when it is expected to end, in seconds since the epoch, `None`
    where not stated. `devices` are the numbers of its devices, none where they are not known;
    `claim` is the GpuClaim that it names, `resource_claims` the ResourceClaims that hold its
    devices. `owner` is as in `Gang`.
    """

    namespace: str
    name: str
    node: str
    request: Resources
    gang: GangKey | None = None
    priority: int = 0
    bandwidth: int | None = None
    ours: bool = False
    ends: float | None = None
    devices: tuple[int, ...] = ()
    claim: str = ""
    resource_claims: tuple[str, ...] = ()
    owner: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def once_placed(
    gang: Gang, placement: Placement, ends: float | None = None
) -> Iterator[RunningPod]:
    """The members of `gang` that `placement` puts on nodes, as they run there until `ends`."""
    requests = gang.requests
    for pod, node in placement.pods:
        yield RunningPod(
            gang.key.namespace,
            pod,
            node,
            requests[pod],
            gang.key,
            gang.priority,
            gang.bandwidth,
            ours=True,
            ends=ends,
            owner=gang.owner,
        )


def placed(snapshot: Snapshot, plan: Plan) -> list[RunningPod]:
    """The members of gangs of `snapshot` that `plan` has put on nodes."""
    gangs = snapshot.gangs_by_key
    return [pod for one in plan.placements for pod in once_placed(gangs[one.gang], one)]


@dataclass(frozen=True)
class Snapshot:
    """Fabric, what runs, what waits, and the config. `now` in seconds since the epoch.

    `standing` are the gangs of which members run, where it is asked whether they may be
    moved, repaired or evicted. Their live members are among `running`. `eviction_limits` say how
    many of their pods may be evicted.
    """

    fabric: Fabric
    running: tuple[RunningPod, ...] = ()
    gangs: tuple[Gang, ...] = ()
    config: SchedulerConfig = DEFAULTS
    now: float = 0.0
    standing: tuple[StandingGang, ...] = ()
    eviction_limits: tuple[EvictionLimit, ...] = ()

    def moved(self, moves: Iterable[Move]) -> Snapshot:
        """The same once the moves are made."""
        targets = {(move.namespace, move.pod): move.target for move in moves}
        running = tuple(
            replace(pod, node=targets.get((pod.namespace, pod.name), pod.node))
            for pod in self.running
        )
        return replace(self, running=running)

    @cached_property
    def gangs_by_key(self) -> Mapping[GangKey, Gang]:
        """The gangs that wait, by their names."""
        return {gang.key: gang for gang in self.gangs}

    @cached_property
    def replicas(self) -> Mapping[OwnerKey, Replicas]:
        """Those of every owner of a gang that waits."""
        return replicas_of(self.gangs, self.running)

    @cached_property
    def waiting_namespaces(self) -> frozenset[str]:
        """The namespaces of the gangs that wait."""
        return frozenset(gang.key.namespace for gang in self.gangs)

    @cached_property
    def on_node(self) -> Mapping[str, tuple[RunningPod, ...]]:
        """Node name -> its running pods; nodes without pods are absent."""
        found: dict[str, list[RunningPod]] = {}
        for pod in self.running:
            found.setdefault(pod.node, []).append(pod)
        return {node: tuple(pods) for node, pods in found.items()}

    @cached_property
    def used(self) -> Mapping[str, Resources]:
        """Node name -> what its running pods hold; nodes without pods are absent."""
        held: dict[str, list[Resources]] = {}
        for pod in self.running:
            held.setdefault(pod.node, []).append(pod.request)
        return {node: total(requests) for node, requests in held.items()}

    def take_used(self, used: Mapping[str, Resources]) -> None:
        """Take what is `used` as worked out already, by who has followed the pods."""
        self.__dict__["used"] = used

    def take_gangs(
        self, by_key: Mapping[GangKey, Gang], namespaces: frozenset[str], demanding: bool
    ) -> None:
        """Take what is known of the gangs as worked out already; none stands."""
        self.__dict__["gangs_by_key"] = by_key
        self.__dict__["waiting_namespaces"] = namespaces
        self.__dict__["demanding"] = demanding

    @cached_property
    def free(self) -> Mapping[str, Resources]:
        """Node name -> what is left; an unschedulable node keeps what it has but takes no pods.

        Which devices are left stands there only where a gang has demands of them.
        """
        used = self.used
        left: dict[str, Resources] = {}
        known: dict[Hashable, Resources] = {}
        for name, node in self.fabric.nodes.items():
            taken, offer = used.get(name), node.allocatable
            if taken is None:
                left[name] = offer
                continue
            alike = (id(offer), taken.gpus, taken.cpu, taken.memory, taken.pods, taken.extra)
            if alike not in known:
                known[alike] = minus(counted(offer), taken)
            left[name] = known[alike]
        if self.demanding:
            for name in used.keys() & left.keys():
                left[name] = replace(left[name], devices=self.devices_left(name))
        return left

    def free_on(self, name: str) -> Resources:
        """What `free` says of one node of the fabric, for those who ask of few."""
        left = self.fabric.nodes[name].allocatable
        if (taken := self.used.get(name)) is not None:
            left = minus(counted(left), taken)
            if self.demanding:
                left = replace(left, devices=self.devices_left(name))
        return left

    def gpus_held(self, name: str) -> int:
        """GPUs that pods hold on a node, for those who ask of nothing else."""
        held = self.used.get(name)
        return held.gpus if held else 0

    def with_gangs(self, gangs: tuple[Gang, ...]) -> Snapshot:
        """The same with these gangs waiting; what is used is not worked out again."""
        other = replace(self, gangs=gangs)
        if "used" in self.__dict__:
            other.take_used(self.used)
        return other

    @cached_property
    def demanding(self) -> bool:
        """Whether a gang demands more of its devices than their number."""
        return any(gang.demanding for gang in self.gangs) or any(
            one.gang.demanding for one in self.standing
        )

    @cached_property
    def wishing(self) -> bool:
        """Whether a gang prefers linked devices."""
        return self.demanding and any(
            role.request.wants is not None and role.request.wants.prefers is not None
            for gang in self.gangs
            for role in gang.roles
        )

    def devices_left(self, name: str) -> FreeDevices:
        """The devices of a node that are known to be free."""
        free = free_devices(self.fabric.nodes[name].allocatable)
        held = self.held.get(name, ())
        if name in self.used and self.used[name].gpus > len(held):
            # Some pods there hold devices of unknown numbers.
            return FreeDevices(free.layout, 0)
        return free.without(held)

    @cached_property
    def held(self) -> Mapping[str, tuple[int, ...]]:
        """Node name -> the devices that pods are known to hold there."""
        held: dict[str, tuple[int, ...]] = {}
        for pod in self.running:
            if pod.devices:
                held[pod.node] = (*held.get(pod.node, ()), *pod.devices)
        return held
