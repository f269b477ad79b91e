"""Nodes of the input, and the fabric that they form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation

from model.config import SchedulerConfig, Spec
from model.fabric import Fabric
from model.node import Node, Taint
from model.quantity import BadQuantity, mbits
from model.readers.amounts import amounts, as_offer, gpu_resource
from model.readers.config import ConfigRead
from model.readers.device_nodes import STATUS, DevicesRead, Host, doubt_twins, read_devices
from model.readers.dra.devices import Claimable
from model.readers.dra.published import Published, published
from model.readers.manifest import Body, Manifest
from model.readers.objects import Objects
from model.readers.report import Report
from model.readers.wishes import BANDWIDTH, PREFIX, field_of
from model.topology import (
    PRESETS,
    Levels,
    Place,
    TopologyError,
    build_fabric,
    choose_levels,
    place_of,
    placed,
    unique_names,
)

FAILURE_RATE = PREFIX + "failure-rate"
GPU_RESOURCE_LABEL = PREFIX + "gpu-resource"
"""Set on every node, and asked for by every GPU pod, where a fabric mixes GPU resources."""
_PRODUCT_LABELS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
)
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(slots=True)
class NodeRead:
    """A node decoded but not yet under its leaf."""

    manifest: Manifest
    node: Node
    gpu_name: str
    devices: DevicesRead = field(default_factory=DevicesRead)


def read_nodes(
    objects: Objects, config: SchedulerConfig, drivers: Published | None = None
) -> list[NodeRead]:
    """All nodes whose manifests are sound, with what `drivers` publish where that is known."""
    drivers = drivers or published(config.spec, objects)
    found = []
    for manifest in objects.of("", "Node"):
        status = objects.get(*STATUS, "", manifest.name)
        node = read_node(manifest, config.spec, status, drivers.on(manifest.name))
        if not manifest.broken:
            found.append(node)
    return found


def read_node(
    manifest: Manifest,
    spec: Spec,
    inventory: Manifest | None = None,
    claimable: Claimable | None = None,
) -> NodeRead:
    """One node with its inventory; its manifest is marked as broken where it cannot be used.

    Where devices are `claimable`, those are what it has.
    """
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
    node = Node(
        name=manifest.name,
        leaf="",
        spine="",
        allocatable=as_offer(offered, spec.gpu_resources),
        product=next((labels[name] for name in _PRODUCT_LABELS if labels.get(name)), ""),
        bandwidth=_bandwidth(manifest, labels, annotations),
        failure_permille=_failure(manifest, annotations),
        labels=labels,
        taints=_taints(manifest, node_spec),
        ready=_ready(manifest, status),
        cordoned=cordoned or metadata.get("deletionTimestamp") is not None,
    )
    if claimable is not None:
        return _with_claimable(manifest, node, claimable)
    if inventory is None or spec.devices.mode == "count":
        return NodeRead(manifest, node, gpu_name)
    info = manifest.mapping(status.get("nodeInfo"), "status.nodeInfo")
    host = Host(
        manifest.text(metadata.get("uid"), "metadata.uid"),
        manifest.text(info.get("bootID"), "status.nodeInfo.bootID"),
        node.allocatable.gpus,
    )
    return NodeRead(manifest, node, gpu_name, read_devices(inventory, host))


def _with_claimable(manifest: Manifest, node: Node, claimable: Claimable) -> NodeRead:
    devices = DevicesRead(claimable.free, manifest=manifest)
    if claimable.fault:
        devices.free, devices.fault = None, claimable.fault
        advice = "See what the driver on the node publishes; it may be about to do so anew."
        manifest.warn("metadata.name", None, f"takes nobody: {claimable.fault}", advice)
    offered = replace(node.allocatable, gpus=len(claimable.names))
    node = replace(node, allocatable=offered, device_names=claimable.names)
    return NodeRead(manifest, node, "", devices)


def with_devices(read: NodeRead) -> Node:
    """The node with the devices of its inventory, held back where that is not believed."""
    node, devices = read.node, read.devices
    if devices.fault:
        return replace(node, held_back=devices.fault)
    if devices.free is None:
        return node
    gpus = min(node.allocatable.gpus, devices.free.mask.bit_count())
    return replace(node, allocatable=replace(node.allocatable, gpus=gpus, devices=devices.free))


def _ready(manifest: Manifest, status: Body) -> bool:
    for path, body in manifest.mappings(status.get("conditions"), "status.conditions"):
        if body.get("type") == "Ready":
            value = manifest.text(body.get("status"), f"{path}.status")
            manifest.choice(value, f"{path}.status", ("True", "False", "Unknown"))
            return value == "True"
    return True


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


def mixed_gpu_names(nodes: Sequence[NodeRead]) -> bool:
    """Whether the nodes offer GPUs under more than one resource name."""
    return len({read.gpu_name for read in nodes if read.gpu_name}) > 1


def read_fabric(report: Report, nodes: Sequence[NodeRead], read: ConfigRead) -> Fabric:
    """The fabric of `nodes`; nodes without GPUs and without a leaf are left out."""
    topology = read.config.spec.topology
    doubt_twins((one.node.name, one.devices) for one in nodes)
    nodes = [replace(one, node=with_devices(one)) for one in nodes]
    on_gpus = [one for one in nodes if one.node.allocatable.gpus > 0]
    levels: Levels | None = None
    try:
        levels = choose_levels(topology, [one.node.labels for one in on_gpus or nodes])
    except TopologyError as error:
        read.error(report, error.field, error.value, str(error), error.advice)
    else:
        if levels is None and on_gpus and topology.unlabelled == "refuse":
            read.error(
                report,
                "spec.topology",
                None,
                f"is not configured, and none of {len(on_gpus)} GPU nodes has a known label",
                f"Label the nodes with {' and '.join(PRESETS['plain'][0])}, list the labels in "
                "spec.topology.levels, or set spec.topology.unlabelled to isolate.",
            )
            return Fabric(())
    if levels is None and (topology.unlabelled == "refuse" or not on_gpus):
        return Fabric(())
    mixed = mixed_gpu_names(nodes)
    standing = _standing(nodes, levels, topology.unlabelled == "isolate")
    names = unique_names(place for _, place in standing if place is not None)
    taken = {name for pair in names.values() for name in pair}
    final = []
    for one, place in standing:
        node = placed(one.node, names[place] if place else _isolated(one.node.name, taken))
        if mixed and one.gpu_name:
            node = _named(node, one.gpu_name)
        final.append(node)
    fabric = build_fabric(final, topology, *_uplinks(read.config.spec))
    _check_names(report, fabric, read)
    return fabric


def _standing(
    nodes: Sequence[NodeRead], levels: Levels | None, isolate: bool
) -> list[tuple[NodeRead, Place | None]]:
    """Nodes with where they stand; None for nodes to be isolated."""
    spines = levels is not None and any(one.node.labels.get(levels.spine or "") for one in nodes)
    if levels is not None and not spines:
        levels = Levels(levels.leaf)
    found: list[tuple[NodeRead, Place | None]] = []
    for one in nodes:
        place = place_of(levels, one.node.labels) if levels else None
        if place is not None and place.leaf and place.spine:
            found.append((one, place))
        elif one.node.allocatable.gpus <= 0 and not (place and place.leaf):
            continue
        elif isolate:
            found.append((one, None))
        elif levels is not None:
            missing = levels.leaf if not (place and place.leaf) else levels.spine
            one.manifest.error(
                f"metadata.labels[{missing}]",
                None,
                "is missing, so the node has no place in the fabric",
                "Label the node, or set spec.topology.unlabelled to isolate.",
            )
    return found


def _isolated(name: str, taken: set[str]) -> tuple[str, str]:
    unique = name
    while unique in taken:
        unique = f"node/{unique}"
    taken.add(unique)
    return unique, unique


def _named(node: Node, gpu_name: str) -> Node:
    return replace(node, labels={**node.labels, GPU_RESOURCE_LABEL: gpu_name})


def _uplinks(spec: Spec) -> tuple[dict[str, int], int | None]:
    network = spec.network
    everywhere = network.uplink_bandwidth
    return (
        {leaf: mbits(value) for leaf, value in network.uplinks.items()},
        None if everywhere is None else mbits(everywhere),
    )


def _check_names(report: Report, fabric: Fabric, read: ConfigRead) -> None:
    """Refuse leaves and spines that the config names and the fabric does not have."""
    if not fabric.leaves:
        return
    leaves, spines = fabric.leaf_index.keys(), fabric.spines.keys()
    spec = read.config.spec
    named = [(f"spec.network.uplinks[{leaf}]", leaf, False) for leaf in spec.network.uplinks]
    for i, edge in enumerate(spec.topology.adjacency.edges):
        named.extend((f"spec.topology.adjacency.edges[{i}]", leaf, False) for leaf in edge)
    for name, policy in spec.namespaces.items():
        field = f"spec.namespaces[{name}].domains"
        named.extend((field, domain, True) for domain in policy.domains or ())
    for field, name, or_spine in named:
        if name not in leaves and not (or_spine and name in spines):
            some = ", ".join(list(leaves)[:5])
            what = "no leaf or spine" if or_spine else "no leaf"
            advice = f"Use names of the fabric, such as: {some}."
            read.error(report, field, name, f"is {what} of the fabric", advice)
