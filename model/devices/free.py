"""The devices of a node that are free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourleaf.model.crds.claim import MOST_DEVICES
from fourleaf.model.devices.choice import Ask, assign, packs
from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.layout import DeviceLayout, bits, numbers, unknown_layout


@dataclass(frozen=True, slots=True)
class FreeDevices:
    """Which devices of a layout are free; `mask` has the bit of each.

    Where it is not known which devices some pods hold, none counts as free.
    """

    layout: DeviceLayout
    mask: int

    def holds(self, count: int, demand: DeviceDemand) -> int:
        """How many pods that ask for `count` devices of this demand find theirs at once."""
        return packs(self.layout, self.mask, count, demand)

    def grants(self, count: int, demand: DeviceDemand) -> bool:
        """Whether a pod alone could have the links that it prefers."""
        return self.holds(count, replace(demand, linked=demand.prefers, prefers=None)) > 0

    def without(self, held: Sequence[int]) -> FreeDevices:
        """What is free once the devices `held` are not."""
        return FreeDevices(self.layout, self.mask & ~bits(held))

    def back(self, given: Sequence[int]) -> FreeDevices:
        """What is free once those who hold the devices `given` have ended."""
        return FreeDevices(self.layout, self.mask | bits(given) & self.layout.everything)

    def after(self, count: int, demand: DeviceDemand | None) -> FreeDevices:
        """What is free once a pod has taken its devices; nothing where there are none for it."""
        taken = assign(self.layout, self.mask, ((count, demand),))
        return FreeDevices(self.layout, 0 if taken is None else self.mask & ~taken[0])

    def shared_out(self, asks: Sequence[Ask]) -> list[tuple[int, ...]] | None:
        """For each ask the numbers of its devices; None where there is no way for all."""
        found = assign(self.layout, self.mask, asks)
        return None if found is None else [numbers(mask) for mask in found]


def all_of(layout: DeviceLayout) -> FreeDevices:
    """A layout of which nothing is taken."""
    return FreeDevices(layout, layout.everything)


def unknown(count: int) -> FreeDevices:
    """Free devices 0 to `count` - 1 of a node that says nothing of them."""
    return all_of(unknown_layout(min(max(0, count), MOST_DEVICES)))
