"""The nodes that a device map may name: what they offer, and what of it is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from model.config import Spec
from model.maps.provider import Provider, cluster_provider, pool_in, pool_of
from model.readers.config import read_config
from model.readers.device_map import DEVICE_MAP
from model.readers.inventory import Inventory
from model.readers.nodes import read_nodes
from model.readers.owners import Owners
from model.readers.pods import Requests, read_pod
from model.topology import natural_key


@dataclass(frozen=True, slots=True)
class Holder:
    """A pod that runs, and what it holds: `devices`, or `count` GPUs of unknown numbers.

    `map` is the text of its own device map, "" without one.
    """

    pod: str
    devices: frozenset[int]
    count: int
    map: str


@dataclass(frozen=True, slots=True)
class MapNode:
    """A node with its devices 0 to `gpus` - 1. `usable`: ready, and not cordoned."""

    name: str
    gpus: int
    ready: bool
    cordoned: bool
    pool: str
    product: str = ""
    holders: tuple[Holder, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether new pods may go there."""
        return self.ready and not self.cordoned

    def holder_of(self, device: int, lines: str) -> str:
        """The pod that holds `device` and does not belong to the map `lines`, else ""."""
        others = (one for one in self.holders if not lines or one.map != lines)
        return next((one.pod for one in others if device in one.devices), "")

    def free(self, lines: str) -> frozenset[int]:
        """The devices that nobody holds but pods of the map `lines`.

        None of them where somebody holds GPUs whose numbers nobody knows.
        """
        others = [one for one in self.holders if not lines or one.map != lines]
        if any(one.count for one in others):
            return frozenset()
        return frozenset(range(self.gpus)).difference(*(one.devices for one in others))


@dataclass(frozen=True, slots=True)
class Ground:
    """All nodes by name, in natural order, and who runs them."""

    nodes: Mapping[str, MapNode] = field(default_factory=dict)
    provider: Provider = Provider.OTHER

    def pool_of(self, name: str) -> str:
        """The pool of a node, which may be gone: then that of nodes named like it, else ""."""
        node = self.nodes.get(name)
        if node is not None:
            return node.pool
        named = pool_in(name)
        if not named:
            return ""
        alike = (one.pool for one in self.nodes.values() if pool_in(one.name) == named)
        return next(alike, named)


def ground_of(inventory: Inventory) -> Ground:
    """The nodes of the input and the pods that run on them. Broken nodes are left out."""
    config = read_config(inventory).config
    holders: dict[str, list[Holder]] = {}
    for node, holder in _holders(inventory, config.spec):
        holders.setdefault(node, []).append(holder)
    read = [one.node for one in read_nodes(inventory, config)]
    nodes = {
        one.name: MapNode(
            one.name,
            one.allocatable.gpus,
            one.ready,
            one.cordoned,
            pool_of(one.name, one.labels),
            one.product,
            tuple(holders.get(one.name, ())),
        )
        for one in sorted(read, key=lambda one: natural_key(one.name))
    }
    return Ground(nodes, cluster_provider((one.name, one.labels) for one in read))


def _holders(inventory: Inventory, spec: Spec) -> Iterator[tuple[str, Holder]]:
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
            yield pod.node, Holder(title, devices, count, pod.annotation(DEVICE_MAP) or "")
