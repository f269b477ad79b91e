"""A gang is held against the limits that count its own pods, and against no others."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from fourleaf.k8s_bridge.relocation.evictions.limits import LimitsByPod
from fourleaf.model.running_gang import EvictionLimit, PodName
from tests.standing import stood


class CountedPods(frozenset[PodName]):
    """The pods of a limit, which count how often a gang is held against them."""

    compared = 0

    def __and__(self, other: AbstractSet[Any]) -> frozenset[PodName]:
        """What both have, counted."""
        CountedPods.compared += 1
        return super().__and__(other)


def test_each_gang_is_held_against_its_own_limits() -> None:
    """50 gangs of two pods, each under its own limit: 50 comparisons, not 2,500."""
    gangs = [stood(f"g{i}", ["n-0", "n-1"]) for i in range(50)]
    limits = [
        EvictionLimit(f"limit {i}", CountedPods(one.members), i % 2 + 1)
        for i, one in enumerate(gangs)
    ]
    by_pod = LimitsByPod(limits)
    CountedPods.compared = 0
    assert [by_pod.may_go(one) for one in gangs] == [i % 2 == 1 for i in range(50)]
    assert CountedPods.compared == 50


def test_a_limit_counts_the_pods_of_one_gang_together() -> None:
    """Of three pods a limit lets two go, another all of them: only the first keeps the gang."""
    one = stood("g", ["n-0", "n-1", "n-2"])
    strict = EvictionLimit("strict", frozenset(one.members), 2)
    loose = EvictionLimit("loose", frozenset(one.members), 3)
    assert LimitsByPod([strict, loose]).of(one) == (strict, loose)
    assert not LimitsByPod([strict, loose]).may_go(one)
    assert LimitsByPod([loose]).may_go(one)
