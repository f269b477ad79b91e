"""Gangs that are others by the time that a plan for them has been made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import GANG_SIZE, LEAF, gang, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import PAGE
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of


async def test_a_gang_that_has_changed_meanwhile_evicts_none() -> None:
    """It is planned for two seconds, and after one of them it waits for a third member."""
    bench = Bench(1, 1)
    await bench.config("{preemption: {afterSeconds: 1}}")
    await bench.classes(low=1, high=10)
    await bench.start()
    low = [pod(f"low-{number}", 8) for number in range(4)]
    for body in low:
        body["spec"]["priorityClassName"] = "low"
    await submit(bench.cluster, "other", low)
    await bench.clock.advance(3)
    preempt, asked = bench.solved.preempt, []

    async def slowly(snapshot: Snapshot, key: GangKey) -> PreemptionPlan:
        asked.append(key)
        await bench.clock.sleep(2.0)
        return await preempt(snapshot, key)

    bench.solved.preempt = slowly  # type: ignore[method-assign]
    high = gang("high", 2, 8)
    for body in high:
        body["spec"]["priorityClassName"] = "high"
    await submit(bench.cluster, TEAM, high)
    for _ in range(40):
        await bench.clock.advance(0.25)
        if asked:
            break
    for body in high:
        size = {"metadata": {"annotations": {GANG_SIZE: "3"}}}
        await bench.cluster.patch(PODS, Target(TEAM, body["metadata"]["name"]), size)
    await bench.clock.advance(6)
    there = (await bench.cluster.list(PODS, "other")).items
    assert asked
    assert [one for one in there if "deletionTimestamp" in one["metadata"]] == []
    assert len(there) == 4
    await bench.stop()


class SlowPages:
    """An API that takes so many seconds for each page that is read, and counts these.

    Just before it answers, `happens` takes place, and the scheduler hears of it.
    """

    def __init__(self, bench: Bench, seconds: float) -> None:
        self.bench, self.seconds = bench, seconds
        self.count = 0
        self.happens: Callable[[], Awaitable[object]] | None = None

    async def before(self, request: ApiRequest) -> None:
        """Let it wait."""
        if (request.kind, request.verb) == (LEASES, "get") and request.target.name.startswith(PAGE):
            self.count += 1
            await self.bench.clock.sleep(self.seconds)
            if self.happens is not None:
                await self.happens()
                for _ in range(100):
                    await asyncio.sleep(0)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_members_of_a_node_that_is_heard_again_stay() -> None:
    """The API takes ten seconds to say who leads; the node is heard within these."""
    bench = Bench(1, 2)
    pages = SlowPages(bench, 10.0)
    await bench.start(answers=pages)
    await bench.submit("g", 2)
    before = await bench.uids("g")
    node = (await bench.places("g"))[0]
    bench.lose(node)
    while not pages.count:
        await bench.clock.advance(0.25)
    bench.restore(node)
    await bench.clock.advance(60)
    assert await bench.uids("g") == before
    await bench.stop()


async def test_victims_of_a_gang_that_is_gone_stay() -> None:
    """Its two pods are deleted in the moment in which the API says who leads: all four stay."""
    bench = Bench(1, 1)
    await bench.config("{preemption: {afterSeconds: 1}}")
    await bench.classes(low=1, high=10)
    pages = SlowPages(bench, 3.1)
    pages.happens = lambda: bench.delete("high")
    await bench.start(answers=pages)
    await bench.submit("low", 4, priority="low")
    before = await bench.uids("low")
    await bench.submit("high", 2, priority="high")
    await bench.clock.advance(30)
    assert pages.count == 1
    assert await bench.uids("low") == before
    await bench.stop()


async def test_a_member_stays_whose_seat_is_taken() -> None:
    """One node is free for it, and a pod of another scheduler comes there in that moment."""
    bench = Bench(1, 1)
    pages = SlowPages(bench, 3.1)
    await bench.start(answers=pages)
    await bench.submit("full", 2)
    await bench.submit("g", 1)
    before, places = await bench.uids("g"), await bench.places("g")
    held = {*places.values(), *(await bench.places("full")).values()}
    stranger = pod("stranger", 8, "default-scheduler")
    (stranger["spec"]["nodeName"],) = {one["metadata"]["name"] for one in bench.fabric} - held
    pages.happens = lambda: submit(bench.cluster, "other", [stranger])
    drained = {"metadata": {"annotations": {DRAIN: "true"}}}
    await bench.cluster.patch(NODES, Target("", places[0]), drained)
    await bench.clock.advance(30)
    assert pages.count == 1
    assert await bench.uids("g") == before
    await bench.stop()


async def test_places_whose_node_is_in_another_leaf_by_now() -> None:
    """All nodes of a gang of 8 die, and one of its new places moves to leaf 4 before it comes.

    It needs two adjacent leaves: with seven places in leaves 2 and 3, it would stand on three.
    """
    bench = Bench(1, 5)
    await bench.start()
    await bench.submit("g", 8)
    bench.jobs.backoff = 40
    bench.lose(*(await bench.places("g")).values())
    await bench.clock.advance(25)
    (record,) = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    moves = read_relocation(record).seats[0].node
    leaf = {"metadata": {"labels": {LEAF: "leaf-0-4"}}}
    await bench.cluster.patch(NODES, Target("", moves), leaf)
    await bench.clock.advance(40)
    places = (await bench.places("g")).values()
    assert len(places) == 8
    assert len({4 if node == moves else leaf_of(node) for node in places}) == 2
    await bench.stop()
