"""Reads that pass the gate: those of one tenant leave room for others, and for our own records."""

from __future__ import annotations

import asyncio

from fourleaf.k8s_bridge.cluster.kinds import LEASES, VOLUME_CLAIMS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.election.gate import CONCURRENT_READS, Gate, GatedCluster
from tests.twins.virtual_clock import VirtualClock


class Slow:
    """A cluster that answers about claims of namespace `many` never; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def get(self, kind: object, target: Target) -> Body:
        """What was asked for, if ever."""
        self.asked.append(target.namespace)
        if target.namespace == "many":
            await asyncio.get_running_loop().create_future()
        return {}


async def test_a_thousand_reads_of_one_namespace_leave_room() -> None:
    """At most 24 of 32 are under way for it; a claim of another and a Lease are read at once."""
    clock, slow = VirtualClock(), Slow()
    cluster: Cluster = MemoryCluster(clock=clock)
    cluster.get = slow.get  # type: ignore[method-assign]
    gated = GatedCluster(cluster, Gate(clock))
    reads = [
        asyncio.ensure_future(gated.get(VOLUME_CLAIMS, Target("many", f"c{i}")))
        for i in range(1000)
    ]
    await clock.advance(1)
    assert 1 <= slow.asked.count("many") <= CONCURRENT_READS * 3 // 4
    assert await gated.get(VOLUME_CLAIMS, Target("one", "c")) == {}
    assert await gated.get(LEASES, Target("many-system", "lease")) == {}
    for read in reads:
        read.cancel()
    await asyncio.gather(*reads, return_exceptions=True)
