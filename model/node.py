"""A node as the scheduler sees it: what it offers, who may use it, how it has behaved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fourleaf.model.devices.names import DeviceName
from fourleaf.model.resources import Resources

GPU_SOURCE_LABEL = "topology.scheduler/gpu-resource"
"""In the model alone, on every node where nodes differ in that: the resource under which a device
plugin announces its GPUs, else one of the two below."""
OF_INVENTORY = "inventory"
"""No device plugin announces the GPUs of the node; its inventory names them."""
OF_DEVICE_MAPS = "device-maps"
"""Nothing on the node names its GPUs; device maps do."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint that keeps pods off a node (`NoSchedule` and `NoExecute` alike)."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Node:
    """One host under a leaf switch.

    `allocatable` is what pods may take when the node is empty. `bandwidth` is the
    node's network bandwidth in Mbit/s, `None` where it is not stated.
    `failure_permille` is the decayed failure rate of the node in thousandths. `held_back` says
    why no pod may come here although the node is ready: its devices are not known for sure. It is
    `sealed` where what happens here could not be recorded: its record cannot be read, or not be
    written for now.
    `device_names` are those that drivers give its devices, in the order of their numbers, where
    devices are claimed. `features` are those that its kubelet declares.
    """

    name: str
    leaf: str
    spine: str
    allocatable: Resources
    product: str = ""
    bandwidth: int | None = None
    failure_permille: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    ready: bool = True
    cordoned: bool = False
    held_back: str = ""
    sealed: bool = False
    device_names: tuple[DeviceName, ...] = ()
    features: frozenset[str] = frozenset()

    @property
    def schedulable(self) -> bool:
        """Whether new pods may land here at all: ready, not cordoned, held back or sealed."""
        return self.ready and not self.cordoned and not self.held_back and not self.sealed
