"""Seats are looked at before pods go for them, at a rate that no number of victims raises."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Throttled
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from tests.k8s_bridge.relocation.bench import Bench


class Cordon:
    """The first seat that is looked at has just been cordoned, which no watch has said yet."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.closed = ""

    async def before(self, request: ApiRequest) -> None:
        """Cordon it."""
        is_read = (request.verb, request.kind) == ("get", NODES) and request.target.name
        if is_read and not self.closed and await self.bench.open_relocations():
            self.closed = request.target.name
            spec = {"spec": {"unschedulable": True}}
            await self.bench.cluster.patch(NODES, Target("", self.closed), spec)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_a_preemption_that_told_no_pod_to_go_is_made_again_soon(bench: Bench) -> None:
    """Its first seat was cordoned before; others make room in seconds, not in five minutes."""
    api = Cordon(bench)
    bench.tasks.pop().cancel()
    await bench.start("b", answers=api)
    await bench.clock.advance(30)
    await bench.classes(low=1, high=10)
    for number in range(16):
        await bench.submit(f"low-{number}", 1, priority="low")
    await bench.submit("top", 1, priority="high")
    await bench.clock.advance(30)
    places = await bench.places("top")
    assert api.closed
    assert len(places) == 1
    assert api.closed not in places.values()
    assert len(await bench.events("Evicted")) == 1


async def test_a_seat_whose_kubelet_has_died_holds_no_gang_for_long(bench: Bench) -> None:
    """The host of a repair's seat answers, its kubelet is off: others are taken after a minute.

    Eight nodes are free, and places are kept for 15 minutes.
    """
    await bench.submit("g", 4)
    bench.lose((await bench.places("g"))[0])
    while not await bench.events("Evicted"):
        await bench.clock.advance(0.05)
    (seat, *_) = read_relocation(
        (await bench.cluster.list(LEASES, labels=RELOCATIONS)).items[0]
    ).seats
    bench.heartbeats.silent.add(seat.node)
    bench.kubelets.silent.add(seat.node)
    unknown = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    await bench.cluster.patch(NODES, Target("", seat.node), unknown, "status")
    await bench.clock.advance(40)
    assert len(await bench.places("g")) < 4
    await bench.clock.advance(50)
    assert len(await bench.places("g")) == 4
    assert seat.node not in (await bench.places("g")).values()


class NoEviction:
    """An API that is too busy to evict, though a dry run passes; it counts reads of nodes."""

    reads = refused = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse it for now."""
        self.reads += request.verb == "get" and request.kind is NODES
        if request.subresource == "eviction" and not request.dry_run:
            self.refused += 1
            raise Throttled("too many requests", 429)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_victims_that_may_not_go_yet_are_no_storm_of_reads(bench: Bench) -> None:
    """16 victims that may not go for now, asked one by one: each seat is read every 2 s at most."""
    api = NoEviction()
    bench.tasks.pop().cancel()
    await bench.start("b", answers=api)
    await bench.clock.advance(30)
    await bench.classes(low=1, high=10)
    await bench.submit("a", 128, 1, priority="low")
    await bench.submit("top", 16, 8, priority="high")
    await bench.clock.advance(30)
    api.reads = api.refused = 0
    await bench.clock.advance(60)
    assert await bench.open_relocations() == ["top"]
    assert api.refused > 128
    assert api.reads <= 16 * 30


async def test_a_general_silence_ends_no_relocation_for_which_pods_have_gone(bench: Bench) -> None:
    """Four are told to go for top; all nodes are silent for 40 s; then they end, and it starts."""
    await bench.classes(low=1, high=10)
    for number in range(4):
        await bench.submit(f"low-{number}", 1, priority="low")
    await bench.submit("middle", 12, priority="high")
    nodes = [f"n-0-{leaf}-{number}" for leaf in range(4) for number in range(4)]
    bench.kubelets.silent |= set(nodes)
    await bench.submit("top", 4, priority="high")
    while len(await bench.events("Evicted")) < 4:
        await bench.clock.advance(0.5)
    bench.lose(*nodes)
    await bench.clock.advance(40)
    assert await bench.open_relocations() == ["top"]
    bench.restore(*nodes)
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 4
    assert len(await bench.events("Evicted")) == 4
