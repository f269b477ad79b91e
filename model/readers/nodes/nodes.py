"""Nodes of the input: what each offers, and in what state it is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation

from fourleaf.model.config.spec import SchedulerConfig, Spec
from fourleaf.model.devices.free import FreeDevices, all_of
from fourleaf.model.devices.layout import Device, layout_of, numbers
from fourleaf.model.node import OF_DEVICE_MAPS, OF_INVENTORY, Node, Taint
from fourleaf.model.quantity import BadQuantity, mbits
from fourleaf.model.readers.dra.devices import Claimable
from fourleaf.model.readers.dra.offers import NOTHING, Offer
from fourleaf.model.readers.dra.published import Published, published
from fourleaf.model.readers.nodes.attach_limits import Limits, limits_in
from fourleaf.model.readers.nodes.node_status import STATUS, DevicesRead, Host, read_devices
from fourleaf.model.readers.objects.amounts import (
    amounts,
    as_offer,
    gpu_resource,
    is_part_of_gpus,
    most_devices,
)
from fourleaf.model.readers.objects.annotations import BANDWIDTH, DRAIN, PREFIX, field_of
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.topology.found import Found, found_in
from fourleaf.model.readers.topology.node_features import HAS_IT, label_of
from fourleaf.model.resources import with_extra

FAILURE_RATE = PREFIX + "failure-rate"
_PRODUCT_LABELS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
)
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(slots=True)
class NodeRead:
    """A node decoded but not yet under its leaf.

    `mapped` are the devices that device maps name there, as bits: they count where neither a device
    plugin has `announced` any nor an inventory names them. `discovered` is what its agent found
    about where it stands.
    """

    manifest: Manifest
    node: Node
    gpu_name: str
    devices: DevicesRead = field(default_factory=DevicesRead)
    announced: bool = True
    mapped: int = 0
    discovered: Found | None = None

    @property
    def silent(self) -> bool:
        """Whether nothing on the node says which devices it has."""
        return not (self.announced or self.devices.free or self.devices.fault)

    @property
    def free(self) -> FreeDevices | None:
        """The healthy devices as far as they are known one by one."""
        if not (self.silent and self.mapped):
            return self.devices.free
        return all_of(layout_of([Device(number) for number in numbers(self.mapped)]))

    @property
    def gpu_source(self) -> str:
        """What says that the node has GPUs: their resource, or who else; "" where it has none."""
        if self.announced:
            return self.gpu_name
        if self.free is None or not self.free.layout.devices:
            return ""
        return OF_DEVICE_MAPS if self.silent else OF_INVENTORY


def read_nodes(
    objects: Objects, config: SchedulerConfig, drivers: Published | None = None
) -> list[NodeRead]:
    """All nodes whose manifests are sound, with what `drivers` publish where that is known."""
    drivers = drivers or published(config.spec, objects)
    limits = limits_in(objects)
    found = []
    for manifest in objects.of("", "Node"):
        status = objects.get(*STATUS, "", manifest.name)
        on_node = drivers.on(manifest.name), drivers.offer(manifest.name), limits.on(manifest.name)
        node = read_node(manifest, config.spec, status, *on_node)
        if not manifest.broken:
            found.append(node)
    return found


def read_node(
    manifest: Manifest,
    spec: Spec,
    inventory: Manifest | None = None,
    claimable: Claimable | None = None,
    beside: Offer = NOTHING,
    limits: Limits = (),
) -> NodeRead:
    """One node with its inventory; its manifest is marked as broken where it cannot be used.

    Where devices are `claimable`, those are the GPUs that it has; `beside` are devices beside them,
    `limits` of the volumes that it can attach.
    """
    read = _read(manifest, spec, inventory, claimable, beside, limits)
    if inventory is not None:
        uid = str(manifest.mapping(manifest.body.get("metadata"), "metadata").get("uid", ""))
        read.discovered = found_in(inventory.body.get("status"), uid)
        if read.discovered is not None:
            found = {label_of(one): HAS_IT for one in read.discovered.features}
            read.node = replace(read.node, labels=found | dict(read.node.labels))
    return read


def _read(
    manifest: Manifest,
    spec: Spec,
    inventory: Manifest | None,
    claimable: Claimable | None,
    beside: Offer,
    limits: Limits,
) -> NodeRead:
    body = manifest.body
    metadata = manifest.mapping(body.get("metadata"), "metadata")
    labels = manifest.strings(metadata.get("labels"), "metadata.labels")
    annotations = manifest.strings(metadata.get("annotations"), "metadata.annotations")
    node_spec = manifest.mapping(body.get("spec"), "spec")
    status = manifest.mapping(body.get("status"), "status")
    key = "allocatable" if status.get("allocatable") is not None else "capacity"
    offered = amounts(manifest, status.get(key), f"status.{key}")
    gpu_name = gpu_resource(manifest, offered, spec.gpu_resources, f"status.{key}")
    cordoned = manifest.flag(node_spec.get("unschedulable"), "spec.unschedulable")
    # Who is moved off a node that is to be emptied would else come back, again and again.
    is_drained = annotations.get(DRAIN) == "true"
    node = Node(
        name=manifest.name,
        leaf="",
        spine="",
        allocatable=with_extra(
            as_offer(offered | dict(limits), spec.gpu_resources), beside.amounts
        ),
        product=next((labels[name] for name in _PRODUCT_LABELS if labels.get(name)), ""),
        bandwidth=_bandwidth(manifest, labels, annotations),
        failure_permille=_failure(manifest, annotations),
        labels=labels,
        taints=_taints(manifest, node_spec),
        features=_features(status),
        ready=_ready(manifest, status),
        cordoned=cordoned or is_drained or metadata.get("deletionTimestamp") is not None,
    )
    for fault in beside.faults:
        advice = "See what the driver on the node publishes; it may be about to do so anew."
        manifest.warn("metadata.name", None, f"offers no devices of its {fault}", advice)
    if claimable is not None:
        return _with_claimable(manifest, node, claimable)
    # Elsewhere the device plugin is who gives devices out.
    announced = spec.devices.mode != "env" or any(name in offered for name in spec.gpu_resources)
    if inventory is None or spec.devices.mode == "count":
        return NodeRead(manifest, node, gpu_name, announced=announced)
    info = manifest.mapping(status.get("nodeInfo"), "status.nodeInfo")
    host = Host(
        manifest.text(metadata.get("uid"), "metadata.uid"),
        manifest.text(info.get("bootID"), "status.nodeInfo.bootID"),
        node.allocatable.gpus if announced else None,
        most_devices(manifest, status, spec.gpu_resources) if announced else math.inf,
    )
    return NodeRead(manifest, node, gpu_name, read_devices(inventory, host), announced)


def _with_claimable(manifest: Manifest, node: Node, claimable: Claimable) -> NodeRead:
    devices = DevicesRead(claimable.free, manifest=manifest)
    if claimable.fault:
        devices.free, devices.fault = None, claimable.fault
        advice = "See what the driver on the node publishes; it may be about to do so anew."
        manifest.warn("metadata.name", None, f"takes no pods: {claimable.fault}", advice)
    offered = replace(node.allocatable, gpus=len(claimable.names))
    node = replace(node, allocatable=offered, device_names=claimable.names)
    return NodeRead(manifest, node, "", devices)


def has_gpus(one: NodeRead, spec: Spec) -> bool:
    """Whether a node offers GPUs, or parts of them alone."""
    offer, names = one.node.allocatable, spec.gpu_resources
    return offer.gpus > 0 or any(is_part_of_gpus(name, names) for name, n in offer.extra if n)


def with_devices(read: NodeRead) -> Node:
    """The node with the devices that are known one by one, held back where those are in doubt."""
    node, free = read.node, read.free
    if read.devices.fault:
        # As many as maps name, so that their pods are told why the node takes none.
        gpus = node.allocatable.gpus if read.announced else read.mapped.bit_count()
        offered = replace(node.allocatable, gpus=gpus)
        return replace(node, held_back=read.devices.fault, allocatable=offered)
    if free is None:
        return node
    gpus = free.mask.bit_count()
    if read.announced:
        gpus = min(node.allocatable.gpus, gpus)
    return replace(node, allocatable=replace(node.allocatable, gpus=gpus, devices=free))


def ready_status(body: Body) -> str:
    """The status of the condition `Ready` of a Node object as the API gives it.

    "True" where there is none: a node that its kubelet has yet to report on is tainted.
    """
    conditions = (body.get("status") or {}).get("conditions") or ()
    return next((str(x.get("status")) for x in conditions if x.get("type") == "Ready"), "True")


def _ready(manifest: Manifest, status: Body) -> bool:
    conditions = list(manifest.mappings(status.get("conditions"), "status.conditions"))
    for path, body in conditions:
        if body.get("type") == "Ready":
            value = manifest.text(body.get("status"), f"{path}.status")
            manifest.choice(value, f"{path}.status", ("True", "False", "Unknown"))
    return ready_status({"status": {"conditions": [body for _, body in conditions]}}) == "True"


def _features(status: Body) -> frozenset[str]:
    """What its kubelet declares (1.36)."""
    declared = status.get("declaredFeatures")
    return frozenset(str(one) for one in declared) if isinstance(declared, list) else frozenset()


def _taints(manifest: Manifest, spec: Body) -> tuple[Taint, ...]:
    if not spec.get("taints"):
        return ()
    found = []
    for path, body in manifest.mappings(spec["taints"], "spec.taints"):
        effect = manifest.text(body.get("effect"), f"{path}.effect")
        manifest.choice(effect, f"{path}.effect", _EFFECTS)
        key = manifest.text(body.get("key"), f"{path}.key")
        found.append(Taint(key, manifest.text(body.get("value"), f"{path}.value"), effect))
    return tuple(found)


def _bandwidth(
    manifest: Manifest, labels: dict[str, str], annotations: dict[str, str]
) -> int | None:
    for where, values in (("annotations", annotations), ("labels", labels)):
        value = values.get(BANDWIDTH)
        if value is not None:
            try:
                return mbits(value)
            except BadQuantity as bad:
                manifest.error(f"metadata.{where}[{BANDWIDTH}]", value, str(bad), bad.advice)
    return None


def _failure(manifest: Manifest, annotations: dict[str, str]) -> int:
    value = annotations.get(FAILURE_RATE)
    if value is None:
        return 0
    try:
        rate = Decimal(value) if value.isascii() and len(value) < 40 else Decimal("NaN")
    except InvalidOperation:
        rate = Decimal("NaN")
    if not (rate.is_finite() and 0 <= rate <= 1):
        advice = 'Write a share from 0 to 1, like "0.125".'
        manifest.error(field_of(FAILURE_RATE), value, "is not a share", advice)
        return 0
    return int(rate * 1000)


def mixed_gpu_sources(nodes: Iterable[NodeRead]) -> bool:
    """Whether a pod that asks for GPUs by resource may not go to every node that has some.

    The kubelet refuses a pod that asks for a resource that no device plugin announces there.
    """
    sources = {read.gpu_source for read in nodes} - {""}
    return len(sources) > 1 or bool(sources & {OF_INVENTORY, OF_DEVICE_MAPS})
