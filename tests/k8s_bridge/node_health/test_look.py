"""A look that lasts: what is known when it ends counts, not what was when it began."""

from __future__ import annotations

import asyncio

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import node
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE, NodeMonitor
from fourleaf.k8s_bridge.node_health.probe import FAILURE_THRESHOLD, KubeletAddress
from tests.twins.virtual_clock import VirtualClock

NAMES = [f"n{i}" for i in range(6)]
LATE, OTHER = NAMES[:2]


class Desk:
    """Six nodes of one leaf, and a monitor that is told when to look; `n0` has no power."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(clock=self.clock)
        self.heartbeats = Heartbeats()
        self.cache = ClusterCache(self.clock)
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
        self.probes = 0

    async def fill(self) -> None:
        """The nodes are there, and were all heard just now."""
        for name in NAMES:
            await self.cluster.create(NODES, "", node(name, "l", "s"))
        await self.read()
        self.beat(*NAMES)

    async def read(self) -> None:
        """The cache hears what the API server has."""
        self.cache.take_all(NODES, await self.cluster.list(NODES))

    def beat(self, *names: str) -> None:
        """These kubelets are heard."""
        now = self.clock.monotonic()
        for name in names:
            self.heartbeats.heard(name, str(now), now)

    async def answers(self, door: KubeletAddress) -> bool:
        """The one has no power; its last probe takes until something has happened."""
        if door.host != LATE:
            return True
        self.probes += 1
        if self.probes == FAILURE_THRESHOLD:
            await self.meanwhile()
        return False

    async def meanwhile(self) -> None:
        """What happens while the last probe is under way."""

    async def look(self, *heard: str) -> None:
        """Look so often that the node without power is dead, 24 s after it was heard."""
        for _ in range(2):
            self.clock.spend(12)
            self.beat(*heard)
        for _ in range(FAILURE_THRESHOLD):
            await self.monitor.look()


@pytest.fixture
async def desk() -> Desk:
    """All nodes were heard just now."""
    desk = Desk()
    await desk.fill()
    return desk


async def test_who_is_heard_while_it_is_probed_is_not_dead(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kubelet renews after the look has begun and before the probe has failed."""

    async def heard() -> None:
        desk.beat(LATE)

    monkeypatch.setattr(desk, "meanwhile", heard)
    await desk.look(*NAMES[1:])
    assert desk.probes == FAILURE_THRESHOLD
    assert not desk.monitor.dead


async def test_who_is_not_heard_meanwhile_is_dead(desk: Desk) -> None:
    """Of six nodes it is the only one that is silent, and its host does not answer."""
    await desk.look(*NAMES[1:])
    assert desk.monitor.dead == {LATE}


async def test_who_was_not_asked_is_not_dead(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one host is probed for 24 s another kubelet falls silent, and its node is given up.

    Its host would answer, as it does in the next look.
    """

    async def silent() -> None:
        for _ in range(2):
            desk.clock.spend(12)
            desk.beat(*NAMES[2:])
        status = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
        await desk.cluster.patch(NODES, Target("", OTHER), status, "status")
        await desk.read()

    monkeypatch.setattr(desk, "meanwhile", silent)
    await desk.look(*NAMES[1:])
    assert desk.monitor.dead == {LATE}
    await desk.monitor.look()
    assert desk.monitor.dead == {LATE}
