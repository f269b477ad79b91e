"""Pods that end anyway beside a gang that may preempt: whether their room is waited for.

The fabric is one spine of 4 leaves of 4 nodes, and a gang that waits may preempt after 5 s.
"""

from __future__ import annotations

import pytest

from tests.k8s_bridge.relocation.bench import Bench
from tests.k8s_bridge.relocation.test_eviction_limits import changed


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
