"""What a pod demands of its devices beyond their number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceDemand:
    """Which sets of devices do, for a pod that asks for a number of them.

    `exact` are the numbers themselves, from a device map. `contiguous`: the numbers follow each
    other. `linked`: any two have a link of at least that many MB/s, 0 for any link, None where
    that does not matter. `products` are those that do, all where empty; `memory` is the least of
    each in MiB. `prefers` is like `linked`, but a wish. `device_class` is the DeviceClass that all
    must belong to, any or none where empty.
    """

    exact: tuple[int, ...] = ()
    contiguous: bool = False
    linked: int | None = None
    products: tuple[str, ...] = ()
    memory: int = 0
    prefers: int | None = None
    device_class: str = ""

    @property
    def needs_inventory(self) -> bool:
        """Whether only a node that says what devices it has can meet it."""
        picky = bool(self.products or self.device_class) or self.memory > 0
        return picky or self.linked is not None
