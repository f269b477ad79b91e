"""Each failure counts once: that of a node, and that of a leaf when its last node falls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cache.node_seen import OUT_OF_SERVICE
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import node
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.judge import NodeVerdict
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE, NodeMonitor
from fourleaf.k8s_bridge.node_health.probe import KubeletAddress
from tests.twins.virtual_clock import VirtualClock

PLACES = {"a1": "a", "b1": "b", "b2": "b", "c1": "c", "c2": "c"}


class Ward:
    """Nodes of three leaves, the first of a single node, and one leader after the other."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(clock=self.clock)
        self.cache = ClusterCache(self.clock)
        self.heartbeats = Heartbeats()
        self.tasks: list[asyncio.Task[None]] = []

    async def answers(self, door: KubeletAddress) -> bool:
        """One host alone is heard."""
        return door.host == "c2"

    async def fill(self) -> None:
        """The nodes are there."""
        for name, leaf in PLACES.items():
            await self.cluster.create(NODES, "", node(name, leaf, "s"))
        await self.lead()

    async def lead(self, loads: bool = True) -> None:
        """Another one leads from now on, and `loads` what is kept."""
        self.monitor = NodeMonitor(
            self.cluster,
            self.cache,
            self.heartbeats,
            self,
            StateLease(self.cluster, "kube-system", FAILURES_LEASE, self.clock),
            self.clock,
            lambda *_: None,
            lambda *_: None,
            asyncio.ensure_future,
        )
        if loads:
            await self.load()
        await self.look()

    async def load(self) -> None:
        """What is kept is loaded, and kept up to date from then on."""
        for task in self.tasks:
            task.cancel()
        self.tasks = [asyncio.ensure_future(self.monitor.keep())]
        await self.clock.advance(0.5)

    async def look(self, seconds: int = 2) -> None:
        """Look once a second."""
        for _ in range(seconds):
            self.cache.take_all(NODES, await self.cluster.list(NODES))
            await self.monitor.look()
            await self.clock.advance(1)

    async def fail(self, *names: str) -> None:
        """These nodes are shut down."""
        for name in names:
            taint = {"key": OUT_OF_SERVICE, "effect": "NoExecute"}
            await self.cluster.patch(NODES, Target("", name), {"spec": {"taints": [taint]}})
        await self.look()

    async def mend(self, *names: str) -> None:
        """They are back."""
        for name in names:
            await self.cluster.patch(NODES, Target("", name), {"spec": {"taints": None}})
        await self.look()

    def counts(self) -> dict[str, int]:
        """How often nodes and leaves have failed."""
        failures = self.monitor.failures
        return {
            name: round(score.value)
            for scores in (failures.nodes, failures.leaves)
            for name, score in scores.items()
        }


@pytest.fixture
async def ward() -> AsyncIterator[Ward]:
    """Nothing has failed yet."""
    ward = Ward()
    await ward.fill()
    yield ward
    for task in ward.tasks:
        task.cancel()


async def test_the_only_node_of_a_leaf_is_no_leaf_that_failed(ward: Ward) -> None:
    """Its failure would count one and a half times."""
    await ward.fail("a1")
    assert ward.counts() == {"a1": 1}


async def test_a_leaf_fails_once_for_a_node_that_flaps(ward: Ward) -> None:
    """Both nodes are down, and one is back for some seconds: that is its own failure alone.

    When all of it was well and falls again, it has failed twice.
    """
    await ward.fail("b1")
    assert ward.counts() == {"b1": 1}
    await ward.fail("b2")
    assert ward.counts() == {"b1": 1, "b2": 1, "b": 1}
    await ward.mend("b2")
    await ward.fail("b2")
    assert ward.counts() == {"b1": 1, "b2": 2, "b": 1}
    await ward.mend("b1", "b2")
    await ward.look(40)
    await ward.fail("b1")
    await ward.fail("b2")
    assert ward.counts() == {"b1": 2, "b2": 3, "b": 2}


@pytest.mark.parametrize("loads", [True, False])
async def test_the_next_leader_counts_no_failure_again(ward: Ward, loads: bool) -> None:
    """Nor that of a leaf, whether it loads what is kept before it looks or after that."""
    await ward.fail("b1", "b2")
    await ward.lead(loads)
    if not loads:
        await ward.load()
    await ward.look()
    assert ward.counts() == {"b1": 1, "b2": 1, "b": 1}


async def test_what_fails_after_it_was_well_counts_under_the_next_leader(ward: Ward) -> None:
    """As does the node by which a leaf falls that was half down before."""
    await ward.fail("a1", "b1")
    await ward.lead()
    await ward.mend("a1")
    await ward.look(40)
    await ward.fail("a1", "b2")
    assert ward.counts() == {"a1": 2, "b1": 1, "b2": 1, "b": 1}


async def test_what_fails_before_it_is_loaded_counts(ward: Ward) -> None:
    """The next leader finds a node down before it knows what failed under the last one."""
    await ward.fail("b1")
    await ward.lead(loads=False)
    await ward.fail("c1")
    await ward.load()
    await ward.look()
    assert ward.counts() == {"b1": 1, "c1": 1}


async def test_who_returns_is_not_well_at_once_for_the_next_leader(ward: Ward) -> None:
    """A node that flaps gets no gang for thirty seconds, also where the lead changes."""
    await ward.fail("b1")
    await ward.mend("b1")
    await ward.lead()
    assert ward.monitor.judgements["b1"].verdict is NodeVerdict.RETURNING
    assert not ward.cache.usable("b1")
    await ward.look(31)
    assert ward.cache.usable("b1")
    await ward.lead()
    assert ward.cache.usable("b1")


async def test_who_returns_is_not_in_doubt_where_most_fall_silent(ward: Ward) -> None:
    """Nothing may be on its way to it, unlike to nodes that were well."""
    for name in PLACES:
        ward.heartbeats.heard(name, "0", ward.clock.monotonic())
    await ward.fail("b1")
    await ward.mend("b1")
    for _ in range(2):
        ward.clock.spend(8)
        ward.heartbeats.heard("c2", str(ward.clock.monotonic()), ward.clock.monotonic())
        await ward.look()
    assert ward.monitor.judgements["b1"].verdict is NodeVerdict.RETURNING
    assert ward.cache.is_doubted("b2")
    assert not ward.cache.is_doubted("b1")


async def test_a_leaf_that_falls_as_a_whole_twice_is_counted_twice(ward: Ward) -> None:
    """Both of its nodes are well in between."""
    await ward.fail("b1", "b2")
    await ward.mend("b1", "b2")
    await ward.look(40)
    await ward.fail("b1", "b2")
    assert ward.counts() == {"b1": 2, "b2": 2, "b": 2}
