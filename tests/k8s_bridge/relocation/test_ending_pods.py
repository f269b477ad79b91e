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


async def slow_in_place_of_a(bench: Bench, seconds: int) -> None:
    """A low gang has come to the leaf of `a`, and was told to end, for which it has so long."""
    await bench.delete("a")
    await bench.clock.advance(5)
    body = job("slow", 4, 8)
    spec = body["spec"]["template"]["spec"]
    spec["priorityClassName"], spec["terminationGracePeriodSeconds"] = "low", seconds
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(5)
    bench.kubelets.silent |= set((await bench.places("slow")).values())
    await bench.delete("slow")


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


@pytest.mark.parametrize("keeps", [True, False])
async def test_quota_that_comes_free_is_waited_for_and_held(keeps: bool) -> None:
    """`a` ends, and has the quota that `top` needs, which starts on a free node when it is gone.

    No other goes for it, whether or not places may be kept.
    """
    bench = Bench(1, 1)
    kept = "" if keeps else ", backfill: {enabled: false}"
    await bench.config(f"{{namespaces: {{{TEAM}: {{gpuQuota: 16}}}}{kept}}}")
    await bench.classes(low=0, high=1000)
    await bench.start()
    await bench.submit("a", 1, priority="low")
    await bench.submit("b", 1, priority="low")
    nodes = set((await bench.places("a")).values())
    bench.kubelets.silent |= nodes
    await bench.delete("a")
    body = job("top", 1, 8)
    free = (
        {f"n-0-0-{number}" for number in range(4)} - nodes - set((await bench.places("b")).values())
    )
    body["spec"]["template"]["spec"] |= {
        "priorityClassName": "high",
        "nodeSelector": {"kubernetes.io/hostname": min(free)},
    }
    await bench.cluster.create(JOBS, TEAM, body)
    for _ in range(28):
        await bench.clock.advance(1)
        assert await bench.places("top") == {}
        assert await bench.reservations() == []
    bench.kubelets.silent -= nodes
    await bench.clock.advance(10)
    assert len(await bench.places("top")) == 1
    assert await bench.events("Evicted") == []
    await bench.stop()


async def test_who_takes_an_hour_to_end_is_not_waited_for(bench: Bench) -> None:
    """A gang has an hour of grace: `b` makes way at once, and no node idles for that long."""
    await slow_in_place_of_a(bench, 3600)
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 4


async def test_room_of_who_ends_is_not_kept_before_one_whose_turn_it_is() -> None:
    """`big` waits for 12 nodes among singles that come all the time, and each takes 20 s to end.

    It has its turn after 20 s, and starts when those have gone that stand there.
    """
    bench = Bench(1, 4)
    await bench.config("{backfill: {afterSeconds: 20}}")
    await bench.classes(low=1, high=10)
    await bench.start()
    await bench.submit("lowest", 1, priority="low")
    for number in range(15):
        await bench.submit(f"s-{number}", 1, priority="high")
    await bench.submit("big", 12, priority="high", namespace="other")
    running = [f"s-{number}" for number in range(15)]
    waiting, ending = list[str](), list[set[str]]()
    for number in range(15, 40):
        if running:
            ending.append(set((await bench.places(running[0])).values()))
            bench.kubelets.silent |= ending[-1]
            await bench.delete(running.pop(0))
        waiting.append(f"s-{number}")
        await bench.submit(waiting[-1], 1, priority="high")
        await bench.clock.advance(7)
        if len(ending) > 2 or (ending and not running):
            bench.kubelets.silent -= ending.pop(0)
        running += [name for name in waiting if await bench.places(name)]
        waiting = [name for name in waiting if name not in running]
    assert len(await bench.places("big", "other")) == 12
    await bench.stop()


async def test_others_do_not_wait_for_the_same_room(bench: Bench) -> None:
    """One has four minutes to end: a gang waits for it, and `b` makes way for the other at once."""
    await slow_in_place_of_a(bench, 240)
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
