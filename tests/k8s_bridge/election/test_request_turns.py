"""Turns of writes: what a namespace whose requests hang leaves to others, and who is next."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.election.gate import Gate, GatedCluster
from fourleaf.k8s_bridge.election.request_turns import RequestTurns
from tests.twins.virtual_clock import VirtualClock


class Writers:
    """Writers that hold their turn until they are told to go, by namespace."""

    def __init__(self, at_once: int) -> None:
        self.turns = RequestTurns(at_once)
        self.writing: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}

    async def come(self, *namespaces: str) -> list[asyncio.Task[None]]:
        """So many come at once, in this order."""
        tasks = [asyncio.ensure_future(self._write(name)) for name in namespaces]
        await asyncio.sleep(0)
        return tasks

    async def end(self, namespace: str) -> None:
        """Those of a namespace that write are done."""
        self._ends.pop(namespace).set()
        for _ in range(5):
            await asyncio.sleep(0)

    async def _write(self, namespace: str) -> None:
        async with self.turns.turn(namespace):
            self.writing.append(namespace)
            end = self._ends.setdefault(namespace, asyncio.Event())
            await end.wait()
            self.writing.remove(namespace)


async def test_a_namespace_that_hangs_leaves_turns_to_others() -> None:
    """Of eight turns one has four, the next two, the two last ones one each; a fifth follows."""
    writers = Writers(8)
    tasks = await writers.come(*["a"] * 20, *["b"] * 20, "c", "d", "e")
    assert "".join(sorted(writers.writing)) == "aaaabbcd"
    await writers.end("c")
    assert writers.writing.count("e") == 1
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_many_namespaces_that_hang_leave_turns_to_others() -> None:
    """Ten namespaces with a long line each hang, and six more that come then write at once."""
    writers = Writers(64)
    lines = [f"hanging-{number}" for number in range(10) for _ in range(64)]
    tasks = await writers.come(*lines, *"abcdef")
    assert set("abcdef") <= set(writers.writing)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_records_do_not_wait_for_the_writes_of_tenants() -> None:
    """A hundred namespaces let their evictions hang; a Lease is written all the same."""
    store = MemoryCluster()

    class Hangs:
        async def before(self, request: ApiRequest) -> None:
            if request.subresource == "eviction":
                await asyncio.Event().wait()

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    gate = Gate(VirtualClock())
    gate.open_until(math.inf)
    cluster = GatedCluster(store.client("a", Hangs()), gate)
    evictions = [cluster.evict(Target(f"n{number}", "pod")) for number in range(100)]
    tasks = [asyncio.ensure_future(one) for one in evictions]
    await asyncio.sleep(0)
    body: Body = {"metadata": {"name": "page"}, "spec": {}}
    await asyncio.wait_for(cluster.create(LEASES, "kube-system", body), 5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_next_turn_is_for_who_has_fewest() -> None:
    """Two turns: one of `a` and one of `b` write, and more wait; as `b` ends, `c` is next."""
    writers = Writers(2)
    tasks = await writers.come("a", "b", "a", "a", "c")
    await writers.end("b")
    assert sorted(writers.writing) == ["a", "c"]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_who_had_a_turn_waits_behind_the_others() -> None:
    """One at a time: `b` and `c` come with two each, and take turns."""
    writers, order = Writers(1), ""
    await writers.come("a", "b", "b", "c", "c")
    for _ in range(4):
        await writers.end(writers.writing[0])
        order += writers.writing[0]
    assert order == "bcbc"


async def test_who_gives_up_takes_no_turn() -> None:
    """One gives up while it waits, another in the very moment of its turn: a third one writes."""
    turns = RequestTurns(1)

    async def write() -> None:
        async with turns.turn("a"):
            pass

    async with turns.turn("a"):
        early, late = asyncio.ensure_future(write()), asyncio.ensure_future(write())
        await asyncio.sleep(0)
        early.cancel()
        await asyncio.sleep(0)
    late.cancel()
    await asyncio.gather(early, late, return_exceptions=True)
    await asyncio.wait_for(write(), 1)
