"""Which devices pods on one node get, if there is a way to give all of them what they demand.

A node has few devices and few pods come to it at once, so the search is exhaustive: over the
sets that do, demands with fewest sets first, none of them sharing a device. Pods to which all
free devices are alike come last and take what is left. On a node so large that the search would
not end soon, it gives up, and the pods count as not fitting.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.layout import DeviceLayout, bits, numbers

MOST_SETS = 4096
"""Sets of devices that are looked at for one pod."""

MOST_STEPS = 20_000
"""Sets that are tried in one search."""

Ask = tuple[int, DeviceDemand | None]
"""How many devices a pod asks for, and what it demands of them."""

_NOTHING_MORE = DeviceDemand()


def assign(layout: DeviceLayout, free: int, asks: Sequence[Ask]) -> list[int] | None:
    """For each ask the devices it gets, as bits, out of `free`; None where there is no way."""
    found = _assign(layout, free, tuple(asks))
    return None if found is None else list(found)


@lru_cache(maxsize=65536)
def _assign(layout: DeviceLayout, free: int, asks: tuple[Ask, ...]) -> tuple[int, ...] | None:
    if sum(count for count, _ in asks) > free.bit_count():
        return None
    some = [i for i, (count, _) in enumerate(asks) if count]
    picky = [i for i in some if not _all_alike(layout, free, asks[i][1])]
    options = {i: sets(layout, free, *asks[i]) for i in picky}
    picky.sort(key=lambda i: (len(options[i]), str(asks[i]), i))
    search = _Search(asks, options, picky)
    if not search.place(0, free):
        return None
    got = [search.got.get(i, 0) for i in range(len(asks))]
    for mask in got:
        free &= ~mask
    for i in sorted(set(some) - set(picky), key=lambda i: (-asks[i][0], i)):
        got[i] = _best(layout, free, asks[i][0])
        free &= ~got[i]
    return tuple(got)


class _Search:
    """Gives a set to one ask after the other; equal asks take theirs in the order of the sets."""

    def __init__(
        self, asks: tuple[Ask, ...], options: dict[int, tuple[int, ...]], order: list[int]
    ) -> None:
        self.got: dict[int, int] = {}
        self._asks = asks
        self._options = options
        self._order = order
        self._steps = MOST_STEPS

    def place(self, position: int, free: int) -> bool:
        """Place all asks from `position` in the order on; whether that went well."""
        if position == len(self._order):
            return True
        i = self._order[position]
        start = 0
        if position and self._asks[self._order[position - 1]] == self._asks[i]:
            start = self._options[i].index(self.got[self._order[position - 1]]) + 1
        for mask in self._options[i][start:]:
            self._steps -= 1
            if self._steps < 0:
                return False
            if mask & free == mask:
                self.got[i] = mask
                if self.place(position + 1, free & ~mask):
                    return True
        return False


def _all_alike(layout: DeviceLayout, free: int, demand: DeviceDemand | None) -> bool:
    """Whether any of the free devices, in the right number, meet the demand."""
    if demand is None:
        return True
    if demand.exact or demand.contiguous or free & ~_suitable(layout, demand):
        return False
    return _all_linked(layout, free, demand.linked)


@lru_cache(maxsize=65536)
def sets(
    layout: DeviceLayout, free: int, count: int, demand: DeviceDemand | None
) -> tuple[int, ...]:
    """The sets of `count` devices out of `free` that meet `demand`, as bits; the best first.

    Best are sets whose devices have the links that the demand prefers, then those that leave
    the fewest linked devices behind, then the lowest numbers.
    """
    demand = demand or _NOTHING_MORE
    usable = free & _suitable(layout, demand)
    if count <= 0 or usable.bit_count() < count:
        return ()
    if demand.exact:
        mask = bits(demand.exact)
        fits = mask & usable == mask and len(demand.exact) == count
        return (mask,) if fits and _all_linked(layout, mask, demand.linked) else ()
    if demand.contiguous:
        run = (1 << count) - 1
        found = [run << n for n in numbers(usable) if (run << n) & usable == run << n]
        found = [mask for mask in found if _all_linked(layout, mask, demand.linked)]
    else:
        found = _cliques(layout, usable, count, demand.linked)
    return tuple(sorted(found, key=lambda mask: _regret(layout, free, mask, demand.prefers)))


def packs(layout: DeviceLayout, free: int, count: int, demand: DeviceDemand | None) -> int:
    """How many pods that each ask for this find devices among `free` at once."""
    most = free.bit_count() // count if count else 0
    ask = (count, demand)
    # Where n of them find theirs, fewer do too.
    return bisect_left(
        range(1, most + 1), True, key=lambda n: _assign(layout, free, (ask,) * n) is None
    )


def _suitable(layout: DeviceLayout, demand: DeviceDemand) -> int:
    if not (demand.products or demand.memory or demand.device_class):
        return layout.everything
    return bits(
        device.number
        for device in layout.devices
        if (not demand.products or device.product in demand.products)
        and device.memory >= demand.memory
        and (not demand.device_class or demand.device_class in device.classes)
    )


def _all_linked(layout: DeviceLayout, mask: int, least: int | None) -> bool:
    if least is None:
        return True
    linked = layout.linked(least)
    return all(mask & ~(linked[one] | 1 << one) == 0 for one in numbers(mask))


def _cliques(layout: DeviceLayout, usable: int, count: int, least: int | None) -> list[int]:
    """Sets of `count` devices, each linked with each, in ascending order of their numbers."""
    linked = None if least is None else layout.linked(least)
    found: list[int] = []

    def grow(mask: int, candidates: int, missing: int) -> None:
        if not missing:
            found.append(mask)
            return
        while candidates.bit_count() >= missing and len(found) < MOST_SETS:
            lowest = candidates & -candidates
            candidates ^= lowest
            further = candidates
            if linked is not None:
                further &= linked[lowest.bit_length() - 1]
            grow(mask | lowest, further, missing - 1)

    grow(0, usable, count)
    return found


def _regret(
    layout: DeviceLayout, free: int, mask: int, prefers: int | None
) -> tuple[bool, int, int]:
    """Whether the wish is not met, how many linked devices stay behind, and the numbers."""
    beside = 0
    if layout.links:
        linked = layout.linked(0)
        for one in numbers(mask):
            beside |= linked[one]
    left = (beside & free & ~mask).bit_count()
    return (not _all_linked(layout, mask, prefers), left, _reversed(mask))


def _reversed(mask: int) -> int:
    """A number that is smaller the lower the devices of the set are."""
    return -sum(1 << (1024 - one) for one in numbers(mask))


@lru_cache(maxsize=65536)
def _best(layout: DeviceLayout, free: int, count: int) -> int:
    """Any `count` free devices, those with the fastest links among them where there are such."""
    if layout.links and count < free.bit_count():
        for least in layout.bandwidths if count > 1 else (None,):
            found = sets(layout, free, count, DeviceDemand(linked=least))
            if found:
                return found[0]
    return bits(numbers(free)[:count])
