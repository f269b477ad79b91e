"""Devices of classes beside GPUs that a node offers, such as channels of a ComputeDomain.

They are counted by class, as amounts of a resource: all devices of a class are as good as each
other. A device of several classes is one of each amount.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fourleaf.model.devices.names import DeviceName
from fourleaf.model.readers.dra.classes import DeviceClasses
from fourleaf.model.readers.dra.devices import unfit
from fourleaf.model.readers.dra.pools import Listed
from fourleaf.model.resources import of_class

GPU_DEVICES = "has devices of a driver of GPUs"
"""Why a class is left alone of which a device may be a GPU that is counted already."""
SEVERAL_NODES = "has devices that several nodes reach"
"""Why a class is left alone that has such devices alone: no node has a number of its own."""

Amounts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a node offers: the classes of each device that can be given away.

    `unfit` says of classes why some of their devices are left alone; `faults` name the pools that
    cannot be trusted as they stand, of which nothing is offered.
    """

    classes: Mapping[DeviceName, tuple[str, ...]] = field(default_factory=dict)
    unfit: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def amounts(self) -> Amounts:
        """How many devices of each class there are."""
        return self.amounts_of(self.classes)

    def amounts_of(self, names: Iterable[DeviceName]) -> Amounts:
        """How many of each class `names` take, of the devices that can be given away."""
        taken = Counter(one for name in names for one in self.classes.get(name, ()))
        return tuple(sorted((of_class(name), count) for name, count in taken.items()))


NOTHING = Offer()


def offer(pools: Iterable[Listed], gpus: DeviceClasses, others: DeviceClasses) -> Offer:
    """What the pools of a node offer of `others`; `gpus` are the classes that are for GPUs."""
    found: dict[DeviceName, tuple[str, ...]] = {}
    left: dict[str, str] = {}
    faults = []
    for pool in pools:
        ours = 0
        for name, device in pool.devices:
            classes = others.of(name.driver, device)
            if not classes:
                continue
            if name.driver in gpus.names or gpus.of(name.driver, device):
                # Whatever else is said of it.
                left |= dict.fromkeys(classes, GPU_DEVICES)
                continue
            ours += 1
            if why := unfit(device):
                left = dict.fromkeys(classes, f"has devices with {why}") | left
            elif not pool.fault:
                found[name] = classes
        if ours and pool.fault:
            faults.append(pool.fault)
    return Offer(found, left, tuple(faults))


@dataclass(frozen=True)
class Kinds:
    """Classes beside GPUs, side by side: which hold all devices of others, on every node.

    `unfit` says why a class is left alone, of those that have no device to give away, or one that
    may be a GPU.
    """

    wider: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Class -> the classes that have all of its devices, itself among them."""
    crossing: Collection[frozenset[str]] = ()
    """Pairs of classes that share devices, of which neither has all of the other's."""
    unfit: Mapping[str, str] = field(default_factory=dict)

    def asked(self, name: str, count: int) -> Amounts:
        """What `count` devices of a class take: some of each class that has all of its devices."""
        return tuple(sorted((of_class(one), count) for one in self.wider.get(name, (name,))))

    def crosses(self, names: Collection[str]) -> tuple[str, ...]:
        """Two of `names` that cross, none where all can be counted beside each other."""
        found = (pair for pair in self.crossing if pair <= set(names))
        return min((tuple(sorted(pair)) for pair in found), default=())


def kinds_of(offers: Iterable[Offer], elsewhere: Collection[str]) -> Kinds:
    """The classes of all nodes side by side; several nodes reach devices of those `elsewhere`."""
    unfit: dict[str, str] = dict.fromkeys(elsewhere, SEVERAL_NODES)
    together: set[tuple[str, ...]] = set()
    for one in offers:
        together.update(one.classes.values())
        for name, why in one.unfit.items():
            if unfit.get(name) != GPU_DEVICES:
                unfit[name] = why
    there = {name for classes in together for name in classes}
    inside = {
        name: set.intersection(*(set(one) for one in together if name in one)) for name in there
    }
    pairs = {frozenset((a, b)) for one in together for a in one for b in one if a < b}
    crossing = {
        pair
        for pair in pairs
        for a, b in [sorted(pair)]
        if a not in inside[b] and b not in inside[a]
    }
    kept = {k: why for k, why in unfit.items() if k not in there or why == GPU_DEVICES}
    return Kinds({name: tuple(sorted(held)) for name, held in inside.items()}, crossing, kept)
