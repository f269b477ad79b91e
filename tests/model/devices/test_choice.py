"""The choice of devices equals that of a search through all permutations."""

from __future__ import annotations

import pickle
from itertools import combinations, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from fourleaf.model.devices.choice import Ask, assign, packs
from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.free import all_of
from fourleaf.model.devices.layout import Device, DeviceLayout, bits, layout_of, numbers

MOST = 6


@st.composite
def layouts(draw: st.DrawFn) -> DeviceLayout:
    """Up to six devices of two products and two memories, some of them linked."""
    count = draw(st.integers(1, MOST))
    devices = [
        Device(n, draw(st.sampled_from("XY")), draw(st.sampled_from([10, 20])))
        for n in range(count)
    ]
    links = [
        (a, b, draw(st.sampled_from([100, 200])))
        for a, b in combinations(range(count), 2)
        if draw(st.booleans())
    ]
    return layout_of(devices, links)


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    """A pod with or without demands."""
    count = draw(st.integers(0, 3))
    if draw(st.booleans()):
        return count, None
    if count and draw(st.booleans()):
        exact = draw(st.sets(st.integers(0, MOST - 1), min_size=count, max_size=count))
        return count, DeviceDemand(exact=tuple(sorted(exact)))
    return count, DeviceDemand(
        contiguous=draw(st.booleans()),
        linked=draw(st.sampled_from([None, 0, 150])),
        products=draw(st.sampled_from([(), ("X",), ("X", "Y")])),
        memory=draw(st.sampled_from([0, 15])),
        prefers=draw(st.sampled_from([None, 150])),
    )


def suits(layout: DeviceLayout, chosen: tuple[int, ...], demand: DeviceDemand | None) -> bool:
    """Whether these devices meet the demand, read word by word."""
    if demand is None or not chosen:
        return True
    known = {one.number: one for one in layout.devices}
    speeds = {(a, b): speed for a, b, speed in layout.links}
    ordered = tuple(sorted(chosen))
    if demand.exact and ordered != demand.exact:
        return False
    if demand.contiguous and ordered != tuple(range(ordered[0], ordered[0] + len(ordered))):
        return False
    if demand.products and any(known[n].product not in demand.products for n in chosen):
        return False
    if any(known[n].memory < demand.memory for n in chosen):
        return False
    if demand.linked is not None:
        return all(speeds.get(pair, -1) >= demand.linked for pair in combinations(ordered, 2))
    return True


def possible(layout: DeviceLayout, free: int, wanted: list[Ask]) -> bool:
    """Whether some order of the free devices, dealt out in turn, meets every ask."""
    for order in permutations(numbers(free)):
        left = list(order)
        good = True
        for count, demand in wanted:
            chosen = tuple(left[:count])
            del left[:count]
            good = good and len(chosen) == count and suits(layout, chosen, demand)
        if good:
            return True
    return False


@settings(max_examples=400, deadline=None)
@given(layouts(), st.integers(0, 2**MOST - 1), st.lists(asks(), max_size=3))
def test_finds_devices_wherever_there_are_some(
    layout: DeviceLayout, mask: int, wanted: list[Ask]
) -> None:
    """Whoever can be served is, with devices that are free, not shared, and as demanded."""
    free = mask & layout.everything
    found = assign(layout, free, wanted)
    assert (found is not None) == possible(layout, free, wanted)
    if found is not None:
        assert sum(found) == bits(n for one in found for n in numbers(one))
        for one, (count, demand) in zip(found, wanted, strict=True):
            assert one & free == one
            assert one.bit_count() == count
            assert suits(layout, numbers(one), demand)


@settings(max_examples=200, deadline=None)
@given(layouts(), st.integers(0, 2**MOST - 1), asks())
def test_packs_as_many_as_fit(layout: DeviceLayout, mask: int, ask: Ask) -> None:
    """The number of equal pods is the greatest for which the search finds devices."""
    free = mask & layout.everything
    count, demand = ask
    most = 0 if not count else max(n for n in range(7) if possible(layout, free, [ask] * n))
    assert packs(layout, free, count, demand) == most


def islands(count: int, size: int, speed: int = 450_000) -> DeviceLayout:
    """Devices in islands of `size`, each linked with each inside."""
    pairs = combinations(range(count), 2)
    links = [(a, b, speed) for a, b in pairs if a // size == b // size]
    return layout_of([Device(n) for n in range(count)], links)


def test_single_devices_leave_islands_whole() -> None:
    """Of one island that is broken already and one that is whole, the broken one is used up."""
    layout = islands(8, 4)
    free = layout.everything & ~bits([5])
    assert assign(layout, free, [(1, None)]) == [bits([4])]


def test_several_devices_come_from_one_island() -> None:
    """Nobody has asked for links, but four of one island are better than four of two."""
    layout = islands(8, 4)
    free = layout.everything & ~bits([0])
    assert assign(layout, free, [(4, None)]) == [bits([4, 5, 6, 7])]


def test_a_preferred_link_is_a_wish() -> None:
    """Where no two devices are linked fast enough, others do."""
    layout = layout_of([Device(n) for n in range(4)], [(0, 3, 50_000)])
    demand = DeviceDemand(prefers=600_000)
    assert assign(layout, layout.everything, [(2, demand)]) is not None
    wish = DeviceDemand(contiguous=True, prefers=1)
    pairs = layout_of([Device(n) for n in range(4)], [(2, 3, 50_000)])
    assert assign(pairs, pairs.everything, [(2, wish)]) == [bits([2, 3])]


def test_large_nodes_are_answered() -> None:
    """Sixteen devices that are all linked, and a thousand, are no search through all subsets."""
    assert packs(islands(16, 16), bits(range(16)), 8, DeviceDemand(linked=0)) == 2
    assert packs(islands(16, 8), bits(range(16)), 3, DeviceDemand(linked=0)) == 4
    many = layout_of([Device(n) for n in range(1000)])
    assert packs(many, many.everything, 8, DeviceDemand(contiguous=True)) == 125


def test_layouts_stay_one_object_through_a_pipe() -> None:
    """Whoever pickles free devices gets equal ones back, of the very same layout."""
    free = all_of(islands(8, 4))
    back = pickle.loads(pickle.dumps(free))  # noqa: S301
    assert back == free
    assert back.layout is free.layout
