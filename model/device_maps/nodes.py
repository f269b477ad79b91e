"""The nodes that a device map may name: what they offer, and what of it is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from fourleaf.model.config.spec import Spec
from fourleaf.model.device_maps.provider import Provider, cluster_provider, pool_in, pool_of
from fourleaf.model.devices.layout import numbers
from fourleaf.model.readers.config import read_config
from fourleaf.model.readers.nodes.fabric import read_fabric
from fourleaf.model.readers.nodes.nodes import NodeRead, read_nodes, with_devices
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.model.readers.pods.pods import Requests, read_pod
from fourleaf.model.topology import natural_key


@dataclass(frozen=True, slots=True)
class DeviceHolder:
    """A pod that runs, and what it holds: `devices`, or `count` GPUs of unknown numbers.

    `map` is the text of its own device map, "" without one.
    """

    pod: str
    devices: frozenset[int]
    count: int
    map: str


@dataclass(frozen=True, slots=True)
class MapNode:
    """A node and the numbers of its devices: those that can be given away, and the unhealthy.

    `held_back` says why its devices are not known for sure, "" where they are. `known_from` is the
    resource under which a device plugin announces them, or the inventory; "" where neither does.
    `announces`: a device plugin announces some number of them, be it none. `silent`: neither does,
    and a map is taken at its word. `refused`: it names no leaf, and takes no pods for that by the
    config.
    """

    name: str
    devices: frozenset[int]
    ready: bool
    cordoned: bool
    pool: str
    unhealthy: frozenset[int] = frozenset()
    held_back: str = ""
    holders: tuple[DeviceHolder, ...] = ()
    known_from: str = ""
    announces: bool = True
    silent: bool = False
    refused: bool = False

    @property
    def open(self) -> bool:
        """Whether the node takes pods at all."""
        return self.ready and not self.cordoned and not self.refused

    @property
    def usable(self) -> bool:
        """Whether pods may be given devices there."""
        return self.open and not self.held_back and bool(self.devices)

    def holder_of(self, device: int, lines: str) -> str:
        """The pod that holds `device` and does not belong to the map `lines`, else ""."""
        others = (one for one in self.holders if not lines or one.map != lines)
        return next((one.pod for one in others if device in one.devices), "")

    def free(self, lines: str) -> frozenset[int]:
        """The devices that no pods hold but those of the map `lines`.

        None of them where GPUs of unknown numbers are held.
        """
        others = [one for one in self.holders if not lines or one.map != lines]
        if any(one.count for one in others):
            return frozenset()
        return self.devices.difference(*(one.devices for one in others))


@dataclass(frozen=True, slots=True)
class MapNodes:
    """All nodes by name, in natural order, who runs them, and the resources that are GPUs."""

    nodes: Mapping[str, MapNode] = field(default_factory=dict)
    provider: Provider = Provider.OTHER
    gpu_resources: tuple[str, ...] = ()
    _pools: dict[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)
    """What names of nodes have in common -> the pool of the first of these nodes."""

    def __post_init__(self) -> None:
        # A map may name as many nodes that are gone as it has lines.
        for node in self.nodes.values():
            self._pools.setdefault(pool_in(node.name), node.pool)

    def pool_of(self, name: str) -> str:
        """The pool of a node, which may be gone: then that of nodes named like it, else ""."""
        node = self.nodes.get(name)
        if node is not None:
            return node.pool
        named = pool_in(name)
        return self._pools.get(named, named) if named else ""


def ground_of(inventory: Inventory) -> MapNodes:
    """The nodes of the input and the pods that run on them. Broken nodes are left out."""
    found = read_config(inventory)
    config = found.config
    holders: dict[str, list[DeviceHolder]] = {}
    for node, holder in _holders(inventory, config.spec):
        holders.setdefault(node, []).append(holder)
    read = read_nodes(inventory, config)
    # Maps would give a device to any node that has none by itself.
    as_named = [replace(one, mapped=1) for one in read]
    refused = read_fabric(Report(), as_named, found).refused
    nodes = {
        one.node.name: _node(one, tuple(holders.get(one.node.name, ())), one.node.name in refused)
        for one in sorted(read, key=lambda one: natural_key(one.node.name))
    }
    provider = cluster_provider((one.node.name, one.node.labels) for one in read)
    return MapNodes(nodes, provider, config.spec.gpu_resources)


def _node(read: NodeRead, holders: tuple[DeviceHolder, ...], refused: bool) -> MapNode:
    node = with_devices(read)
    free = node.allocatable.devices
    devices = frozenset(range(node.allocatable.gpus) if free is None else numbers(free.mask))
    known = devices if free is None else frozenset(numbers(free.layout.everything))
    return MapNode(
        name=node.name,
        devices=devices,
        ready=node.ready,
        cordoned=node.cordoned,
        pool=pool_of(node.name, node.labels),
        unhealthy=known - devices,
        held_back=node.held_back,
        holders=holders,
        known_from=read.gpu_source,
        announces=read.announced,
        silent=read.silent,
        refused=refused,
    )


def _holders(inventory: Inventory, spec: Spec) -> Iterator[tuple[str, DeviceHolder]]:
    owners, requests = Owners(inventory), Requests(spec)
    for manifest in inventory.of("", "Pod"):
        pod = read_pod(manifest, manifest.name, owners)
        if not pod.running:
            continue
        requests.read(pod)
        devices = frozenset(pod.devices)
        count = 0 if devices else pod.request.gpus
        if devices or count:
            title = f"{pod.namespace}/{pod.name}"
            yield pod.node, DeviceHolder(title, devices, count, pod.annotation(DEVICE_MAP) or "")
