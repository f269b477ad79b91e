"""What all drivers publish: GPUs as far as the config has them claimed, and devices beside GPUs."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.model.config.spec import Spec
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.readers.dra.claims import Honoured
from fourleaf.model.readers.dra.classes import DeviceClasses, read_classes
from fourleaf.model.readers.dra.devices import Claimable, claimable
from fourleaf.model.readers.dra.offers import NOTHING, Amounts, Kinds, Offer, kinds_of, offer
from fourleaf.model.readers.dra.pools import Pool, Pools
from fourleaf.model.readers.objects.dra_kinds import DEVICE_CLASS, SLICE
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Body


class Published:
    """Slices and classes as they change.

    Says nothing of the GPUs of any node unless they are claimed.
    """

    def __init__(self, spec: Spec) -> None:
        self.pools = Pools()
        self.classes = DeviceClasses()
        self.others = DeviceClasses()
        self._bodies: dict[str, Body] = {}
        self._offers: dict[str, Offer] = {}
        self._kinds: Kinds | None = None
        self.configure(spec)

    @property
    def class_names(self) -> list[str]:
        """The names of all classes."""
        return list(self._bodies)

    def configure(self, spec: Spec) -> None:
        """Read everything by another config."""
        self._names = spec.devices.device_classes
        self._mode = spec.devices.mode
        self._read_classes()

    def put_slice(self, name: str, body: Body) -> set[str]:
        """Take a ResourceSlice as it is now; the nodes of which it may say something new."""
        return self._forget_offers(self.pools.put(name, body))

    def remove_slice(self, name: str) -> set[str]:
        """Forget a ResourceSlice; the nodes of which it said something."""
        return self._forget_offers(self.pools.remove(name))

    def put_class(self, name: str, body: Body) -> bool:
        """Take a DeviceClass as it is now; whether that says anything new."""
        self._bodies[name] = body
        return self._read_classes()

    def remove_class(self, name: str) -> bool:
        """Forget a DeviceClass; whether that says anything new."""
        return self._bodies.pop(name, None) is not None and self._read_classes()

    def on(self, node: str) -> Claimable | None:
        """The GPUs of a node, None where they are not claimed."""
        return claimable(self.pools.on(node), self.classes) if self._mode == "dra" else None

    def offer(self, node: str) -> Offer:
        """The devices of a node beside its GPUs."""
        if not self.pools.has(node):
            return NOTHING
        found = self._offers.get(node)
        if found is None:
            found = offer(self.pools.on(node), self.classes, self.others)
            self._offers[node] = found
        return found

    def taken(self, names: Iterable[DeviceName]) -> dict[str, Amounts]:
        """Node -> how many of each class `names` take there, beside its GPUs."""
        on_node: dict[str, list[DeviceName]] = {}
        for name in names:
            for node in self.pools.nodes_of(Pool(name.driver, name.pool)):
                if name in self.offer(node).classes:
                    on_node.setdefault(node, []).append(name)
        return {node: self.offer(node).amounts_of(some) for node, some in on_node.items()}

    @property
    def kinds(self) -> Kinds:
        """The classes beside GPUs, side by side."""
        if self._kinds is None:
            elsewhere = {
                name
                for one in self.pools.wide.values()
                for device in one.devices
                for name in self.others.of(one.pool.driver, device)
            }
            self._kinds = kinds_of(map(self.offer, self.pools.nodes), elsewhere)
        return self._kinds

    @property
    def honoured(self) -> Honoured:
        """The classes that claims may name."""
        return Honoured(self.classes, self.others, self.kinds, self._mode)

    def _forget_offers(self, nodes: set[str]) -> set[str]:
        for node in nodes:
            self._offers.pop(node, None)
        self._kinds = None
        return nodes

    def _read_classes(self) -> bool:
        before = self.classes, self.others
        self.classes = read_classes(self._names, self._bodies)
        beside = [name for name in self._bodies if name not in self._names]
        self.others = read_classes(beside, self._bodies)
        if before == (self.classes, self.others):
            return False
        self._offers.clear()
        self._kinds = None
        return True


def published(spec: Spec, objects: Objects) -> Published:
    """What the slices and classes among `objects` say."""
    found = Published(spec)
    for manifest in objects.of(*DEVICE_CLASS):
        found.put_class(manifest.name, manifest.body)
    for manifest in objects.of(*SLICE):
        found.put_slice(manifest.name, manifest.body)
    return found
