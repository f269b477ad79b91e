"""What all drivers publish, as far as the config has devices claimed."""

from __future__ import annotations

from fourleaf.model.config.spec import Spec
from fourleaf.model.readers.dra.classes import DeviceClasses, read_classes
from fourleaf.model.readers.dra.devices import Claimable, claimable
from fourleaf.model.readers.dra.pools import Pools
from fourleaf.model.readers.objects.dra_kinds import DEVICE_CLASS, SLICE
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Body


class Published:
    """Slices and classes as they change. Says nothing of any node unless devices are claimed."""

    def __init__(self, spec: Spec) -> None:
        self.pools = Pools()
        self.classes = DeviceClasses()
        self._bodies: dict[str, Body] = {}
        self.configure(spec)

    @property
    def class_names(self) -> list[str]:
        """The names of all classes."""
        return list(self._bodies)

    def configure(self, spec: Spec) -> None:
        """Read everything by another config."""
        self._names = spec.devices.device_classes
        self._claimed = spec.devices.mode == "dra"
        self._read_classes()

    def put_class(self, name: str, body: Body) -> bool:
        """Take a DeviceClass as it is now; whether that says anything new."""
        self._bodies[name] = body
        return self._read_classes()

    def remove_class(self, name: str) -> bool:
        """Forget a DeviceClass; whether that says anything new."""
        return self._bodies.pop(name, None) is not None and self._read_classes()

    def on(self, node: str) -> Claimable | None:
        """The devices of a node, None where devices are not claimed."""
        return claimable(self.pools.on(node), self.classes) if self._claimed else None

    def _read_classes(self) -> bool:
        before, self.classes = self.classes, read_classes(self._names, self._bodies)
        return before != self.classes


def published(spec: Spec, objects: Objects) -> Published:
    """What the slices and classes among `objects` say."""
    found = Published(spec)
    for manifest in objects.of(*DEVICE_CLASS):
        found.put_class(manifest.name, manifest.body)
    for manifest in objects.of(*SLICE):
        found.pools.put(manifest.name, manifest.body)
    return found
