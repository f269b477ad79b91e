"""Pods of the input, decoded as far as a plan needs them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fourleaf.model.config.spec import Spec
from fourleaf.model.devices.held_devices import DEVICES, Grant, devices_in, grant_in
from fourleaf.model.node import GPU_SOURCE_LABEL, OF_DEVICE_MAPS
from fourleaf.model.node_constraint import NODE_NAME_FIELD, NodeConstraint, Operator, Requirement
from fourleaf.model.problems import Problem
from fourleaf.model.readers.dra.claims import ClaimAsk
from fourleaf.model.readers.objects.amounts import (
    Amounts,
    RequestReader,
    as_request,
    gpu_resource,
)
from fourleaf.model.readers.objects.annotations import NO_WISHES, Layer, Wishes, read_wishes
from fourleaf.model.readers.objects.manifest import Body, Manifest, part_of
from fourleaf.model.readers.objects.owners import Chain, Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.resizes import HELD, as_resized, is_infeasible
from fourleaf.model.readers.objects.timestamps import created_at
from fourleaf.model.readers.pods.attached_volumes import AttachedVolume
from fourleaf.model.readers.pods.kept_parts import refuse_cut
from fourleaf.model.readers.pods.node_constraints import (
    NodeWants,
    both,
    narrowed,
    read_wants,
)
from fourleaf.model.readers.pods.node_terms import Terms
from fourleaf.model.readers.pods.pod_index import index_of, whole_number
from fourleaf.model.readers.pods.pod_terms import names_own_labels
from fourleaf.model.readers.pods.volumes import NO_VOLUMES, VolumeWants, claims_of, disks_of
from fourleaf.model.readers.topology.node_features import HAS_IT, label_of
from fourleaf.model.resources import Resources
from fourleaf.model.topology import NaturalKey, natural_key

DEFAULT_SCHEDULER = "default-scheduler"
JOBSET_JOB_INDEX = "jobset.sigs.k8s.io/job-global-index"
RAY_NODE_TYPE = "ray.io/node-type"

Rank = tuple[int, int, int, NaturalKey]

NOTHING = Resources()

NO_INDEX = 2**62
"""The number of a pod that has none."""


@dataclass(slots=True, eq=False)
class Pod:
    """One pod, or one pod that an owner would make.

    `node` is "" while it waits. `gpu_name` is the GPU resource that it asks for, "" for
    none; `pinned` the node that a device map names. `wishes` and `wants` are read for pods
    that wait, or whose gang waits. `asked` is what the pod itself asks for, None before that
    has been read; `request` what its gang makes of it. `devices` are the numbers of those it
    has, `grant` what it was given when it was bound, None where nothing says so; `settled` the
    GPUs that it holds by that, None where its annotations decide. `claimed` are the labels that its
    claim demands of the node. `resource_claims` are the ResourceClaims whose devices it asks for,
    `reached` the nodes that reach what they have already; `unsupported` names what of them cannot
    be honoured, "" where there is nothing, and `advice` says what to do about that, "" for leaving
    it out; `volumes` what its PersistentVolumeClaims demand, `attached` those that its node
    attaches; `untold` is a container that would not learn its devices, "" for none. A `stale` pod
    is to be read anew before it counts again: something that is wrong with it was found before
    anything listened. `opened` is when it, or its gang, was seen to hold itself back no more, in
    seconds since the epoch. `is_faulty`: something was wrong with what it asks for, or wants, which
    each reading has to tell again.
    """

    manifest: Manifest
    name: str
    spec: Body
    labels: dict[str, str]
    annotations: dict[str, str]
    owners: Chain
    node: str
    phase: str
    terminating: bool
    scheduler: str
    created: float | None
    request: Resources = NOTHING
    gpu_name: str = ""
    priority: int = 0
    _wishes: Wishes | None = None
    _wants: NodeWants | None = None
    layers: tuple[Layer, ...] = field(default=())
    suspended: bool = False
    pinned: str = ""
    asked: Resources | None = None
    preempts: bool = True
    stale: bool = False
    devices: tuple[int, ...] = ()
    grant: Grant | None = None
    settled: int | None = None
    claimed: tuple[tuple[str, str], ...] = ()
    resource_claims: tuple[ClaimAsk, ...] = ()
    reached: tuple[Terms, ...] = ()
    unsupported: str = ""
    advice: str = ""
    volumes: VolumeWants = NO_VOLUMES
    attached: tuple[AttachedVolume, ...] = ()
    untold: str = ""
    opened: float | None = None
    is_faulty: bool = False

    @property
    def namespace(self) -> str:
        """The namespace of the pod."""
        return self.manifest.namespace

    @property
    def rank(self) -> Rank:
        """Where the pod stands among the members of its gang: by index, else by name."""
        return rank_of(self.name, self.labels, self.annotations)

    @property
    def index(self) -> int | None:
        """The number that the pod carries, None where it has none."""
        return index_of(self.name, self.labels, self.annotations)

    @property
    def finished(self) -> bool:
        """Whether the pod has ended and holds nothing any more."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def running(self) -> bool:
        """Whether the pod holds room on a node, no matter what put it there."""
        return bool(self.node) and not self.finished

    @property
    def nominated(self) -> str:
        """The node on which another scheduler has made room for the pod, "" without one."""
        named = part_of(self.manifest.body, "status").get("nominatedNodeName")
        return named if isinstance(named, str) and self.waits else ""

    @property
    def waits(self) -> bool:
        """Whether the pod has yet to be placed."""
        return not self.node and not self.finished and not self.terminating

    @property
    def admitted(self) -> bool:
        """Whether an API server has taken the pod, so that webhooks have changed it by now."""
        return bool(part_of(self.manifest.body, "metadata").get("uid"))

    @property
    def uid(self) -> str:
        """The UID, "" where it has none."""
        uid = part_of(self.manifest.body, "metadata").get("uid")
        return uid if isinstance(uid, str) else ""

    @property
    def gated(self) -> bool:
        """Whether scheduling gates, or an owner that is suspended, keep the pod back."""
        return self.suspended or bool(self.spec.get("schedulingGates"))

    @property
    def has_anti_affinity(self) -> bool:
        """Whether the pod may mind who stands on its node."""
        affinity = self.spec.get("affinity")
        return isinstance(affinity, dict) and bool(affinity.get("podAntiAffinity"))

    @property
    def may_mind_others(self) -> bool:
        """Whether the pod may mind where other pods are."""
        affinity = self.spec.get("affinity")
        if isinstance(affinity, dict) and (
            affinity.get("podAntiAffinity") or affinity.get("podAffinity")
        ):
            return True
        return bool(self.spec.get("topologySpreadConstraints"))

    @property
    def uses_volumes(self) -> bool:
        """Whether the pod uses a PersistentVolumeClaim, or names a disk that is attached.

        Most volumes are a token or a ConfigMap.
        """
        if not self.spec.get("volumes"):
            return False
        return any(True for _ in claims_of(self.name, self.spec)) or any(
            True for _ in disks_of(self.spec)
        )

    @property
    def fault(self) -> Problem | None:
        """The first error about the pod or one of its owners, None without one."""
        if self.manifest.fault:
            return self.manifest.fault
        return next((one.fault for one in self.owners.manifests if one.fault), None)

    def read_on(self, report: Report) -> None:
        """Forget what its gang made of the pod, and report to `report` from now on."""
        self.manifest.report = report
        for owner in self.owners.manifests:
            owner.report = report
        self.pinned, self.claimed, self.settled = "", (), None
        self.resource_claims, self.reached = (), ()
        self.unsupported = self.advice = ""
        self.volumes, self.attached = NO_VOLUMES, ()
        if self.asked is not None:
            self.request = self.asked

    def adopt(self, body: Body) -> None:
        """Stand on `body`, which says the same of the pod, so that the older one can go."""
        self.manifest.body = body
        metadata = body["metadata"]
        if body.get("spec") == self.spec:
            self.spec = body["spec"]
        if metadata.get("labels") == self.labels:
            self.labels = metadata["labels"]
        if self.annotations and metadata.get("annotations") == self.annotations:
            self.annotations = metadata["annotations"]
            self.layers = ((self.manifest, self.annotations), *self.layers[1:])

    def keep_read(self, before: Pod) -> None:
        """Keep what was read of the spec `before`, which is that of this pod of the same node.

        A tenant edits labels at will, and a spec may have thousands of amounts and terms. What
        depends on labels, on what its containers hold or on what is wrong is read again.
        """
        if before.stale or before.is_faulty or not self.node or before.node != self.node:
            return
        if part_of(before.manifest.body, "spec").get("nodeName") != self.node:
            # What waited was read by the limits of what waits.
            return
        if before.spec is not self.spec and before.spec != self.spec:
            return
        if before._wants is not None and (
            before.labels == self.labels or not names_own_labels(self.spec)
        ):
            self._wants = before._wants
        if before.asked is not None and _held(before) == _held(self):
            self.request = self.asked = before.asked
            self.gpu_name, self.priority = before.gpu_name, before.priority
            self.preempts = before.preempts

    @property
    def wishes(self) -> Wishes:
        """What the annotations of the pod and its owners ask for."""
        if self._wishes is None:
            self._wishes = read_wishes(self.layers) if self.layers else NO_WISHES
        return self._wishes

    @property
    def wants(self) -> NodeWants:
        """What the spec of the pod demands of its node and neighbours."""
        if self._wants is None:
            said = self.manifest.said
            self._wants = read_wants(self.manifest, self.spec)
            self.is_faulty = self.is_faulty or self.manifest.said > said
        return self._wants

    @property
    def bandwidth(self) -> int | None:
        """What it takes of the uplink on its node, in Mbit/s: as granted, else as it wishes."""
        return self.wishes.bandwidth if self.grant is None else self.grant.bandwidth

    def hold(self) -> None:
        """Ask for the GPUs that the pod holds, where that is settled."""
        if self.settled is not None and self.request.gpus != self.settled:
            self.request = replace(self.request, gpus=self.settled, wants=None)

    def annotation(self, key: str) -> str | None:
        """The annotation `key` of the pod, else of its nearest owner that has it."""
        value = self.annotations.get(key)
        if value is None:
            for _, annotations in self.owners.layers:
                value = annotations.get(key)
                if value is not None:
                    break
        return value

    def constraint(self, mixed: bool) -> NodeConstraint:
        """Where the pod may go; where GPUs have `mixed` sources, also by these.

        A node whose GPUs device maps alone name is open to those maps alone.
        """
        constraint = self.volumes.on(self.wants.constraint)
        for terms in self.reached:
            constraint = both(constraint, terms)
        if self.pinned:
            there = Requirement(NODE_NAME_FIELD, Operator.IN, (self.pinned,), True)
            constraint = narrowed(constraint, there)
        asked = ((label_of(one), HAS_IT) for one in self.wishes.features)
        more = (*self.claimed, *asked)
        if mixed and self.gpu_name:
            more = (*more, (GPU_SOURCE_LABEL, self.gpu_name))
        elif mixed and self.request.gpus and not self.pinned:
            sure = Requirement(GPU_SOURCE_LABEL, Operator.NOT_IN, (OF_DEVICE_MAPS,))
            constraint = narrowed(constraint, sure)
        if more:
            return replace(constraint, selector=tuple(sorted({*constraint.selector, *more})))
        return constraint


def _held(pod: Pod) -> tuple[object, ...]:
    """What the status of a pod says of its amounts, which count where they are more."""
    if pod.finished:
        return (None,)
    status = part_of(pod.manifest.body, "status")
    return (is_infeasible(status), *(status.get(key) for key in HELD))


def rank_of(name: str, labels: dict[str, str], annotations: dict[str, str]) -> Rank:
    """Where a pod stands among the members of its gang: by index, else by name."""
    number = index_of(name, labels, annotations)
    job = _or_none(whole_number(labels[JOBSET_JOB_INDEX])) if JOBSET_JOB_INDEX in labels else 0
    head = 0 if labels.get(RAY_NODE_TYPE) == "head" else 1
    return (head, job, _or_none(number), natural_key(name))


def _or_none(number: int | None) -> int:
    return NO_INDEX if number is None else number


def read_pod(manifest: Manifest, name: str, owners: Owners, chain: Chain | None = None) -> Pod:
    """The cheap part of a pod: who it is, where it runs, who made it."""
    get = manifest.body.get
    metadata = manifest.mapping(get("metadata"), "metadata")
    spec = manifest.mapping(get("spec"), "spec")
    status = manifest.mapping(get("status"), "status")
    refuse_cut(manifest, spec)
    labels = manifest.strings(metadata.get("labels"), "metadata.labels")
    annotations = manifest.strings(metadata.get("annotations"), "metadata.annotations")
    if chain is None:
        chain = owners.of(manifest.namespace, metadata)
    own: tuple[Layer, ...] = ((manifest, annotations),) if annotations else ()
    node = manifest.text(spec.get("nodeName"), "spec.nodeName")
    return Pod(
        manifest=manifest,
        name=name,
        spec=spec,
        labels=labels,
        annotations=annotations,
        owners=chain,
        node=node,
        phase=manifest.text(status.get("phase"), "status.phase"),
        terminating=metadata.get("deletionTimestamp") is not None,
        scheduler=manifest.text(spec.get("schedulerName"), "spec.schedulerName")
        or DEFAULT_SCHEDULER,
        created=created_at(manifest),
        layers=(*own, *chain.layers),
        devices=devices_in(annotations.get(DEVICES, "")) if node else (),
        grant=grant_in(annotations) if node else None,
    )


def own_owners(pods: Iterable[Pod]) -> None:
    """Give `pods` owners that they share with no other pod, each as broken as it is now."""
    copies: dict[int, Manifest] = {}
    for pod in pods:
        chain = pod.owners
        if chain.manifests:
            pod.owners = chain.copied(copies)
            pod.layers = (*pod.layers[: -len(chain.layers)], *pod.owners.layers)


class Requests:
    """Fills in what pods ask for."""

    def __init__(self, spec: Spec) -> None:
        self._names = spec.gpu_resources
        self._reader = RequestReader()
        self._made: dict[int, tuple[Amounts, Resources]] = {}

    def read(self, pod: Pod) -> None:
        """Set `request` and `gpu_name` of `pod`."""
        status = pod.manifest.body.get("status") if pod.running else None
        spec = as_resized(pod.spec, status) if isinstance(status, dict) else pod.spec
        asked = self._reader.amounts(pod.manifest, spec)
        field = "spec.containers[*].resources"
        pod.gpu_name = gpu_resource(pod.manifest, asked, self._names, field)
        made = self._made.get(id(asked))
        if made is None:
            made = self._made[id(asked)] = (asked, as_request(asked, self._names))
        pod.request = pod.asked = made[1]
