"""Nodes die under gangs of Jobs: the whole scheduler on the twin, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from k8s_bridge.cluster.kinds import LEASES
from k8s_bridge.relocation.codec import RELOCATIONS
from tests.k8s_bridge.relocation.bench import Bench


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """One spine of 4 leaves of 4 nodes."""
    bench = Bench()
    await bench.start()
    yield bench
    await bench.stop()


async def test_a_lost_member_comes_back_in_the_same_leaf(bench: Bench) -> None:
    """A gang of 2 loses a node; 2 more are free in the leaf. One pod is new, the other stays."""
    await bench.submit("g", 2)
    before, uids = await bench.places("g"), await bench.uids("g")
    bench.lose(before[1])
    await bench.clock.advance(30)
    after = await bench.places("g")
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert after[1].rpartition("-")[0] == before[0].rpartition("-")[0]
    assert (await bench.uids("g"))[0] == uids[0]
    assert not (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
