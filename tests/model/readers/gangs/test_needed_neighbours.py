"""Which running pods a gang that preempts must leave, for its place depends on them."""

from __future__ import annotations

from fourleaf.model.readers.live import LiveReader
from tests.model.readers.gangs.test_near_others import ZONES, near, runs, spread
from tests.model.readers.made import Body, pod

NOW = 1e9


def needed(*pods: Body) -> list[tuple[list[str], int]]:
    """The names of pods, and how many of them may go, for the one gang that waits."""
    reader = LiveReader()
    for body in ZONES:
        reader.put("", "Node", body)
    for body in pods:
        reader.put("", "Pod", body)
    (gang,) = [one for one in reader.reading(NOW).snapshot.gangs if one.hold is None]
    found = reader.needed(gang.key)
    return sorted((sorted(name for _, name in one.pods), one.most) for one in found)


def test_one_stays_in_each_zone_of_those_that_must_be_near() -> None:
    """Two caches run in zone z1 and one in z2: one of the two may go, the third may not."""
    caches = [runs("one", "a", "cache"), runs("two", "b", "cache"), runs("three", "c", "cache")]
    assert needed(*caches, near("p", "cache")) == [(["one", "two"], 1), (["three"], 0)]


def test_no_zone_may_have_fewer_than_the_emptiest() -> None:
    """Zones of 2, 1 and 1 pods: one of the two may go; else the waiting pod had to go elsewhere."""
    there = [runs(name, where) for name, where in (("w", "a"), ("x", "b"), ("y", "c"), ("z", "d"))]
    found = needed(*there, spread("p"))
    assert found == [(["w", "x"], 1), (["y"], 0), (["z"], 0)]


def test_an_empty_zone_leaves_all_the_others_free() -> None:
    """Zone z3 has none, so the fewest are none whatever goes: no pod has to stay."""
    there = [runs(name, where) for name, where in (("w", "a"), ("y", "c"))]
    assert needed(*there, spread("p")) == []


def test_a_gang_that_minds_no_other_needs_none() -> None:
    """The cache is any other pod to it."""
    assert needed(runs("cache", "a", "cache"), pod("p")) == []
