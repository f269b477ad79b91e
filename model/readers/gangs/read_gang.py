"""One gang at a time: what its pods ask for, what is to be placed of it, what runs of it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fourleaf.model.config.spec import Spec
from fourleaf.model.crds.claim import CLAIM
from fourleaf.model.devices.visibility import untold
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.dialects import Dialect, membership
from fourleaf.model.readers.gangs.drafts import (
    Draft,
    Gangs,
    KeptPlaces,
    by_rank,
    replica_owner,
)
from fourleaf.model.readers.gangs.durations import ends_of
from fourleaf.model.readers.gangs.minimum_size import MinimumSizes
from fourleaf.model.readers.gangs.names import GangNames, Identity, key_of_one
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.priority_classes import Priorities
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.attached_volumes import asking_for, volumes_to_attach
from fourleaf.model.readers.pods.claiming_pods import (
    Claimables,
    apply_claims,
    refuse_crossing_classes,
    refuse_shared_claims,
)
from fourleaf.model.readers.pods.device_map import DEVICE_MAP, HeldOn, apply_maps, none_held
from fourleaf.model.readers.pods.gpu_claims import apply_claim
from fourleaf.model.readers.pods.mapped_devices import maps_of
from fourleaf.model.readers.pods.named_objects import too_many_objects
from fourleaf.model.readers.pods.pods import NOTHING, Pod, Requests
from fourleaf.model.readers.pods.settled import settle
from fourleaf.model.readers.pods.storage_capacity import StorageCapacities
from fourleaf.model.readers.pods.volumes import Storage, volume_wants
from fourleaf.model.resources import counted
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import RunningPod


@dataclass(frozen=True, slots=True)
class Situation:
    """What the reading of every gang depends on; `now` in seconds since the epoch.

    `objects` knows the GpuClaims, the ResourceClaims and the volumes, `claimables` what
    ResourceClaims are read against, `capacities` the room for volumes that are still to be made.
    `limited` are the amounts of volumes that some node limits. `whole`: nothing is missing that the
    cluster has. `held_on` are the devices that pods hold, `kept` places for gangs that move.
    """

    spec: Spec
    priorities: Priorities
    requests: Requests
    names: GangNames
    mixed: bool
    now: float
    objects: Objects
    claimables: Claimables
    capacities: StorageCapacities
    limited: frozenset[str]
    whole: bool
    held_on: HeldOn = none_held
    kept: Mapping[GangKey, KeptPlaces] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GangRead:
    """What the pods of one gang come to: drafts of what is to be placed, and what runs.

    `maps` are the texts of the device maps by which its pods have theirs; `shares`: some that wait
    share out lines, so that it matters which devices others hold.
    """

    drafts: tuple[Draft, ...] = ()
    running: tuple[tuple[Pod, RunningPod], ...] = ()
    maps: frozenset[str] = frozenset()
    shares: bool = False


def identity_of(pod: Pod) -> Identity:
    """Which gang a pod belongs to."""
    dialect, name = membership(pod)
    return pod.namespace, dialect, name


def grouped(pods: Iterable[Pod]) -> dict[Identity, list[Pod]]:
    """The pods of every gang."""
    found: dict[Identity, list[Pod]] = {}
    for pod in pods:
        found.setdefault(identity_of(pod), []).append(pod)
    return found


def read_gang(
    identity: Identity, pods: Sequence[Pod], sizes: MinimumSizes, situation: Situation
) -> GangRead:
    """Read one gang from all of its pods, which depends on no other gang.

    The owners of the pods and the object that states the size are marked as broken where
    that is so for this gang, so no other gang may share them.
    """
    members = by_rank(pods)
    for pod in members:
        _fill(pod, situation)
    devices = situation.spec.devices
    if devices.mode != "dra":
        _ask_for_devices(members, situation)
    for pod in members:
        holds = devices.mode == "env" and devices.untold == "hold"
        pod.untold = untold(pod.spec) if holds and pod.waits and pod.admitted else ""
    _claim_devices(members, situation)
    for pod in _live(members, situation):
        settle(pod, devices.mode, situation.whole)
    gangs = _gangs(sizes, situation)
    drafts = gangs.drafts(identity, members)
    for pod in members:
        pod.hold()
    singly = _starts_singly(identity, members, sizes)
    running = tuple(_running(identity, members, situation, singly))
    maps = maps_of(members, situation.spec)
    shares = bool(maps) and any(pod.waits and pod.index is None for pod in members)
    return GangRead(tuple(drafts), running, maps, shares)


def _gangs(sizes: MinimumSizes, situation: Situation) -> Gangs:
    of = situation
    return Gangs(of.spec, sizes, of.names, of.mixed, of.now, of.kept)


def stand_of(
    identity: Identity,
    pods: Sequence[Pod],
    sizes: MinimumSizes,
    situation: Situation,
    dead: Container[str],
) -> list[StandingGang]:
    """What stands of one gang, whose pods `read_gang` has read, if all on `dead` nodes is lost.

    What is wrong with the pods is not reported for that alone.
    """
    gangs = _gangs(sizes, situation)
    report = Report()
    before = [
        (one, one.fault, one.report)
        for pod in pods
        for one in (pod.manifest, *pod.owners.manifests)
    ]
    for one, _, _ in before:
        one.report = report
    found = gangs.standing(identity, by_rank(pods), dead)
    for one, fault, heard in before:
        one.fault, one.report = fault, heard
    if report.problems:
        for pod in pods:
            pod.stale = True
    return found


def all_that_stand(
    gangs: Iterable[tuple[Identity, Sequence[Pod]]],
    sizes: MinimumSizes,
    situation: Situation,
    dead: Container[str],
    everyone: bool,
) -> Iterator[StandingGang]:
    """What stands of all `gangs`, whose pods `read_gang` has read.

    Unless `everyone` is wanted, only gangs that lose members if all on the nodes `dead` is
    lost, that lack some which wait, or that may be moved.
    """
    ours = situation.spec.scheduler_names
    for identity, pods in gangs:
        stand = [pod for pod in pods if pod.running and pod.scheduler in ours]
        if not stand:
            continue
        some = (
            everyone
            or any(pod.wishes.movable for pod in stand)
            or any(pod.node in dead or pod.waits for pod in pods)
        )
        for one in stand_of(identity, pods, sizes, situation, dead) if some else ():
            if everyone or one.hit or one.movable:
                yield one


def _fill(pod: Pod, situation: Situation) -> None:
    """Set what depends on more than the pod's own object."""
    ours = pod.scheduler in situation.spec.scheduler_names
    if pod.finished or not (pod.node or pod.nominated or ours):
        return
    if pod.asked is None:
        said = pod.manifest.said
        situation.requests.read(pod)
        pod.priority = situation.priorities.of(pod.manifest, pod.spec)
        pod.preempts = situation.priorities.preempts(pod.manifest, pod.spec)
        pod.is_faulty = pod.is_faulty or pod.manifest.said > said
    if pod.uses_volumes and not (pod.waits and too_many_objects(pod.spec)):
        objects = situation.objects
        pod.attached = volumes_to_attach(pod.namespace, pod.name, pod.spec, objects)
        if ours:
            own = len(pod.wants.constraint.affinity)
            storage = Storage(objects, situation.capacities, situation.whole)
            pod.volumes = volume_wants(pod.manifest, pod.name, storage, own)
            pod.request = asking_for(pod.asked or NOTHING, pod.attached, situation.limited)


def _ask_for_devices(members: Sequence[Pod], situation: Situation) -> None:
    """Let members ask for what their device map or their claim says."""
    devices = situation.spec.devices
    ours = _live(members, situation)
    mapped = [pod for pod in ours if pod.annotation(DEVICE_MAP) is not None]
    if mapped:
        apply_maps(mapped, devices, situation.held_on)
    for pod in ours:
        if pod.annotation(CLAIM) is not None:
            apply_claim(pod, situation.objects, devices)


def _claim_devices(members: Sequence[Pod], situation: Situation) -> None:
    """Let members ask for what their ResourceClaims are for."""
    ours = _live(members, situation)
    for pod in ours:
        apply_claims(pod, situation.objects, situation.claimables)
    refuse_shared_claims(ours)
    refuse_crossing_classes(ours, situation.claimables)


def _live(members: Sequence[Pod], situation: Situation) -> list[Pod]:
    """The members of ours that have not ended."""
    names = situation.spec.scheduler_names
    return [pod for pod in members if pod.scheduler in names and not pod.finished]


def _starts_singly(identity: Identity, members: Sequence[Pod], sizes: MinimumSizes) -> bool:
    """Whether each pod of a group is a gang of its own."""
    namespace, dialect, name = identity
    if dialect is Dialect.NATIVE:
        return sizes.of(dialect, namespace, name, members).basic
    return dialect is Dialect.MAP


def _running(
    identity: Identity, members: Iterable[Pod], situation: Situation, singly: bool
) -> Iterator[tuple[Pod, RunningPod]]:
    for pod in members:
        ours = pod.scheduler in situation.spec.scheduler_names
        # Where another scheduler has evicted pods for one of its own, that one is as good as there.
        node = pod.node if pod.running else "" if ours else pod.nominated
        if not node:
            continue
        key = situation.names.key_of(identity)
        alone = identity[1] in (Dialect.SINGLE, Dialect.MAP)
        if singly:
            key = key_of_one(key, pod.name)
        if pod.may_mind_others:
            # Read here, so that what is wrong with it is told whether or not a gang minds.
            _ = pod.wants
        yield (
            pod,
            RunningPod(
                namespace=pod.namespace,
                name=pod.name,
                node=node,
                request=counted(pod.request),
                gang=None if alone and not ours else key,
                priority=pod.priority,
                bandwidth=pod.bandwidth if ours else None,
                ours=ours,
                ends=ends_of(pod, ours),
                devices=pod.devices,
                claim=(pod.annotation(CLAIM) or "") if ours else "",
                resource_claims=tuple(one.name for one in pod.resource_claims),
                owner=replica_owner(identity[1], pod) if ours else "",
            ),
        )
