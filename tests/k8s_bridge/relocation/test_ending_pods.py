"""Pods that end anyway beside a gang that may preempt: whether their room is waited for.

The fabric is one spine of 4 leaves of 4 nodes, and a gang that waits may preempt after 5 s.
"""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import JOBS
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_eviction_limits import changed
from tests.twins.jobs import job


@pytest.fixture
async def bench(bench: Bench) -> Bench:
    """Two low gangs of one leaf each, and a high one of two."""
    await bench.classes(low=1, high=10)
    await bench.submit("a", 4, priority="low")
    await bench.submit("b", 4, priority="low")
    await bench.submit("c", 8, priority="high")
    return bench


async def test_who_ends_anyway_is_room_to_come(bench: Bench) -> None:
    """`a` was deleted, and takes a while to end: `b` does not go for a gang that it fits."""
    before = {"b": await bench.uids("b")}
    nodes = set((await bench.places("a")).values())
    bench.kubelets.silent |= nodes
    await bench.delete("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(30)
    bench.kubelets.silent -= nodes
    await bench.clock.advance(20)
    assert len(await bench.places("top")) == 4
    assert not await changed(bench, before)


async def test_who_never_ends_is_no_room_to_come(bench: Bench) -> None:
    """`a` was deleted and never ends: two minutes beyond its grace of 30 s `b` makes room."""
    before = {"b": await bench.uids("b")}
    bench.kubelets.silent |= set((await bench.places("a")).values())
    await bench.delete("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(140)
    assert not await changed(bench, before)
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 4
    assert await changed(bench, before) == {"b"}


async def test_room_of_who_ends_is_kept_for_the_one_that_waits_for_it(bench: Bench) -> None:
    """Two pods of `a` end 10 s after the others: who is low and comes meanwhile has none of it."""
    nodes = sorted((await bench.places("a")).values())
    bench.kubelets.silent |= set(nodes)
    await bench.delete("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(8)
    for number in range(4):
        await bench.submit(f"late-{number}", 1, priority="low")
    bench.kubelets.silent -= set(nodes[:2])
    await bench.clock.advance(10)
    assert [await bench.places(f"late-{number}") for number in range(4)] == [{}] * 4
    bench.kubelets.silent -= set(nodes)
    await bench.clock.advance(10)
    assert sorted((await bench.places("top")).values()) == nodes
    assert await bench.events("Evicted") == []


async def test_others_do_not_wait_for_the_same_room(bench: Bench) -> None:
    """One has an hour to end: a gang waits for that, and `b` makes way for the other at once."""
    await bench.delete("a")
    await bench.clock.advance(5)
    body = job("slow", 4, 8)
    spec = body["spec"]["template"]["spec"]
    spec["priorityClassName"], spec["terminationGracePeriodSeconds"] = "low", 3600
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(5)
    bench.kubelets.silent |= set((await bench.places("slow")).values())
    await bench.delete("slow")
    await bench.submit("top-1", 4, priority="high")
    await bench.submit("top-2", 4, priority="high")
    await bench.clock.advance(60)
    assert sorted([len(await bench.places(f"top-{number}")) for number in (1, 2)]) == [0, 4]


@pytest.mark.parametrize("keeps", [True, False])
async def test_who_begins_to_end_later_is_not_waited_for(bench: Bench, keeps: bool) -> None:
    """Where no place may be kept, who comes late takes it, and ends: `b` goes all the same."""
    if not keeps:
        await bench.config("{backfill: {enabled: false}}")
    before = {"b": await bench.uids("b")}
    nodes = sorted((await bench.places("a")).values())
    bench.kubelets.silent |= set(nodes)
    await bench.delete("a")
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(8)
    await bench.submit("late", 1, priority="low")
    bench.kubelets.silent -= set(nodes[:1])
    for _ in range(0 if keeps else 20):
        if not await bench.places("late"):
            await bench.clock.advance(0.25)
    if not keeps:
        bench.kubelets.silent |= set((await bench.places("late")).values())
        await bench.delete("late")
    bench.kubelets.silent -= set(nodes[1:])
    await bench.clock.advance(25)
    assert len(await bench.places("top")) == 4
    assert bool(await changed(bench, before)) is not keeps
