"""The API server is asked for nodes that are gone, beside the judging and not too often."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import node
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.node_health.deleted_nodes import GONE_SECONDS, DeletedNodes
from tests.k8s_bridge.relocation.bench import Bench
from tests.twins.virtual_clock import VirtualClock


class Reads:
    """Reads of nodes: when each was asked for; they fail or hang while told to."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.asked: list[tuple[str, float]] = []
        self.fail = self.hang = False
        self.go = asyncio.Event()

    async def before(self, request: ApiRequest) -> None:
        """Note the read of a node."""
        if request.kind is NODES and request.verb == "get":
            self.asked.append((request.target.name, self.clock.monotonic()))
            if self.hang:
                await self.go.wait()
            if self.fail:
                raise Ambiguous("no answer", 500)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


class Desk:
    """Three nodes that hold pods; `b` is there after all."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(clock=self.clock)
        self.reads = Reads(self.clock)
        self.nodes = DeletedNodes(
            self.cluster.client("a", self.reads), self.clock, asyncio.ensure_future
        )

    async def pass_by(self, seconds: int, *gone: str) -> None:
        """Look once a second."""
        for _ in range(seconds):
            self.nodes.see(set(gone))
            await self.clock.advance(1)

    def counts(self) -> list[int]:
        """How often each of the nodes was asked for."""
        return [sum(one == name for one, _ in self.reads.asked) for name in "abc"]


@pytest.fixture
async def desk() -> Desk:
    """No node was asked for yet."""
    desk = Desk()
    await desk.cluster.create(NODES, "", node("b", "l", "s"))
    return desk


async def test_one_that_is_there_after_all_is_asked_for_once_in_forty_seconds(desk: Desk) -> None:
    """At 40 s, 80 s and 120 s; the two that are not there once, and then are deleted."""
    await desk.pass_by(125, *"abc")
    assert desk.counts() == [1, 3, 1]
    assert [at for name, at in desk.reads.asked if name == "b"] == [40, 80, 120]
    assert desk.nodes.confirmed == {"a", "c"}
    assert desk.nodes.gone == {"a", "b", "c"}


async def test_errors_make_it_ask_less_and_less(desk: Desk) -> None:
    """Waits double from one second to thirty at most: fewer than 20 reads in two minutes."""
    desk.reads.fail = True
    await desk.pass_by(160, "a", "c")
    count, _, other = desk.counts()
    assert 3 <= count < 20
    assert 3 <= other < 20
    desk.reads.fail = False
    await desk.pass_by(31, "a", "c")
    assert desk.nodes.confirmed == {"a", "c"}


async def test_one_that_is_back_is_asked_for_no_more(desk: Desk) -> None:
    """Reads have failed until it was back; none is made later."""
    desk.reads.fail = True
    await desk.pass_by(45, "a")
    await desk.pass_by(1)
    (before, _, _) = desk.counts()
    await desk.pass_by(120)
    assert before >= 2
    assert desk.counts()[0] <= before + 1


async def test_who_was_back_meanwhile_is_not_deleted_by_an_old_answer(desk: Desk) -> None:
    """A read hangs; the node is back, and gone once more, when it says that it was not there."""
    desk.reads.hang = True
    await desk.pass_by(45, "a")
    await desk.pass_by(5)
    await desk.pass_by(5, "a")
    assert desk.counts() == [1, 0, 0]
    desk.reads.go.set()
    await desk.pass_by(5, "a")
    assert not desk.nodes.confirmed
    await desk.pass_by(35, "a")
    assert desk.nodes.confirmed == {"a"}
    assert desk.counts() == [2, 0, 0]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Eight leaves of four nodes, no scheduler yet."""
    one = Bench(2, 4)
    yield one
    await one.stop()


async def test_reads_that_hang_make_no_other_death_late(bench: Bench) -> None:
    """Objects of three nodes are gone, and their reads hang; a fourth dies: its pod moves in 25 s.

    Each of the three is asked for once.
    """
    reads = Reads(bench.clock)
    await bench.start(answers=reads)
    await bench.submit("three", 3)
    await bench.submit("one", 1)
    (at,) = (await bench.places("one")).values()
    gone = set((await bench.places("three")).values())
    bench.lose(*gone)
    for name in gone:
        await bench.cluster.delete(NODES, Target("", name))
    reads.hang = True
    await bench.clock.advance(GONE_SECONDS + 5)
    assert {name for name, _ in reads.asked} == gone
    bench.lose(at)
    await bench.clock.advance(25)
    (now,) = (await bench.places("one")).values()
    assert now != at
    assert len(reads.asked) == 3


async def test_one_that_was_deleted_and_is_made_anew_is_asked_for_once_more(desk: Desk) -> None:
    """Gone for good, then there for a second: gone again, it has 40 s as before."""
    await desk.pass_by(45, "a")
    assert desk.nodes.confirmed == {"a"}
    await desk.pass_by(1)
    await desk.pass_by(39, "a")
    assert not desk.nodes.confirmed
    await desk.pass_by(3, "a")
    assert desk.nodes.confirmed == {"a"}
    assert desk.counts()[0] == 2
