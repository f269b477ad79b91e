"""The agent of one node: reads its devices, compares, publishes, round after round."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.agent.events import news
from fourleaf.agent.grant_check import NOTHING_UNKNOWN, Mismatch, mismatches
from fourleaf.agent.grants import Grants, subject
from fourleaf.agent.inventory import inventory
from fourleaf.agent.inventory_consistency import Examined, examined
from fourleaf.agent.last_known_devices import GONE, carried_over
from fourleaf.agent.metrics import AgentMetrics
from fourleaf.agent.node import NodeIdentity, node_identity
from fourleaf.agent.publisher import MANAGER, Publisher, PublishIntervals
from fourleaf.agent.readings import Reading
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.informers import Informers
from fourleaf.k8s_bridge.informers.timeouts import about
from fourleaf.k8s_bridge.reporting.recorder.recorder import Recorder, WriteLimits
from fourleaf.k8s_bridge.reporting.recorder.write_queue import QueueLimits as LanePace
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.randomness import chance
from fourleaf.model.crds.discovered_topology import DiscoveredTopology

ROUND_SECONDS = 15.0
"""Seconds between two rounds."""

LONGEST_RETRY_SECONDS = 120.0
"""Seconds between two attempts at most while the cluster does not take what is published."""

PODS_WAIT_SECONDS = 10.0
"""Seconds that the first round waits for the pods of the node."""

_EVENTS = LanePace(waiting=200, rate=1.0, burst=10.0, writers=1)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Which node, how often it is looked at, and what its kernel calls this boot."""

    node: str
    interval: float = ROUND_SECONDS
    boot_id: str = ""
    pace: PublishIntervals = field(default_factory=PublishIntervals)


@dataclass(frozen=True, slots=True)
class Round:
    """What a round came to. `ready`: the inventory can be relied on."""

    ready: bool
    mismatches: tuple[Mismatch, ...]
    error: ClusterError | None = None


class Agent:
    """Looks after one node. `read` gives its devices as they are, `discover` where it stands."""

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        read: Callable[[], Awaitable[Reading]],
        setting: AgentSettings,
        metrics: AgentMetrics,
        discover: Callable[[], Awaitable[DiscoveredTopology | None]] | None = None,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._read = read
        self._discover = discover
        self._setting = setting
        self._metrics = metrics
        self._grants = Grants()
        self._publisher = Publisher(cluster, clock, setting.pace)
        self._pods = Informers(cluster, clock, [subject(setting.node)], self._grants.change)
        self._recorder = Recorder(
            cluster, clock, setting.node, limits=WriteLimits(events=_EVENTS), controller=MANAGER
        )
        self._backoff = Backoff(clock, first=1.0, most=LONGEST_RETRY_SECONDS)
        self._node: NodeIdentity | None = None
        self._node_read_at = self._beat = clock.monotonic()
        self._before: Reading | None = None
        self._unknown = NOTHING_UNKNOWN
        self._told: tuple[Mismatch, ...] = ()
        self._log = structlog.get_logger(__name__).bind(node=setting.node)
        self.rounds = 0

    @property
    def ready(self) -> bool:
        """Whether a round was published."""
        return self._publisher.standing is not None and self.rounds > 0

    def beat_age(self) -> float:
        """Seconds since the last round ended."""
        return self._clock.monotonic() - self._beat

    async def run(self) -> None:
        """Look after the node, until cancelled."""
        async with self._pods, asyncio.TaskGroup() as group:
            group.create_task(self._pods.broken())
            group.create_task(self._recorder.run())
            group.create_task(self._rounds())

    async def once(self) -> Round:
        """One round, once the pods of the node are known or that has taken too long."""
        async with self._pods:
            await self._pods_known()
            desk = asyncio.create_task(self._recorder.run())
            try:
                done = await self.round()
                await self._recorder.settle()
            finally:
                desk.cancel()
        return done

    async def round(self) -> Round:
        """Read, compare and publish. Errors of the cluster are counted and told, not raised."""
        # 1. What is there.
        reading = carried_over(self._before, await self._read())
        if self._discover is not None and reading.topology is None:
            reading = replace(reading, topology=await self._discover())
        self._before = reading
        self._metrics.read(reading)
        looked_at = examined(reading)
        # 2. Whether what runs is what was granted.
        found = self._compare(reading)
        ready = not looked_at.faults
        self._tell(found or ())
        # 3. Have the cluster know.
        error: ClusterError | None = None
        try:
            await self._publish(looked_at, found)
        except ClusterError as failed:
            error = failed
            self._metrics.failed(failed.status)
            self._log.warning("not_published", why=str(failed), advice=_advice(failed))
        self._metrics.judged(ready, found or ())
        self.rounds += 1
        self._beat = self._clock.monotonic()
        return Round(ready, tuple(found or ()), error)

    async def _rounds(self) -> None:
        await self._pods_known()
        while True:
            done = await self.round()
            if done.error is None:
                self._backoff.reset()
                await self._clock.sleep(about(self._setting.interval, chance()))
            else:
                least = max(1.0, done.error.retry_after or 0.0)
                await self._backoff.wait(min(least, LONGEST_RETRY_SECONDS))

    async def _pods_known(self) -> None:
        """Wait for the first list of pods, but not for ever: devices are news without them."""
        waits = {
            asyncio.create_task(self._pods.synced()),
            asyncio.create_task(self._clock.sleep(PODS_WAIT_SECONDS)),
        }
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _compare(self, reading: Reading) -> Sequence[Mismatch] | None:
        if self._pods.health()[PODS].synced_since is None:
            return None
        found, self._unknown = mismatches(reading.processes, self._grants, self._unknown)
        return found

    def _tell(self, found: Sequence[Mismatch]) -> None:
        self._recorder.record(news(self._told, found))
        for one in found:
            if one not in self._told:
                self._log.warning("devices_not_granted", gpu=one.gpu, what=str(one))
        self._told = tuple(found)

    async def _publish(self, looked_at: Examined, found: Sequence[Mismatch] | None) -> None:
        node = await self._identity()
        await self._publisher.look(node.name)
        before, wrote = self._publisher.standing, self._publisher.writes
        devices = inventory(node, looked_at, found, before, self._clock.wall())
        if await self._publisher.publish(node, devices):
            self._metrics.published(self._publisher.writes - wrote)
            told = {one.type: f"{one.status} {one.reason}" for one in devices.conditions}
            ill = [gpu.index for gpu in devices.gpus if not gpu.healthy]
            self._log.info("published", gpus=len(devices.gpus), unhealthy=ill, **told)

    async def _identity(self) -> NodeIdentity:
        """The node, read again now and then, and while its kubelet may be about to tell more.

        That is while it tells of another boot, or of devices that are gone.
        """
        now = self._clock.monotonic()
        old = now - self._node_read_at >= self._setting.pace.look
        node = self._node
        gone = any(gpu.message == GONE for gpu in self._before.gpus) if self._before else False
        if node is None or old or gone or self._setting.boot_id not in ("", node.boot_id):
            node = self._node = await node_identity(self._cluster, self._setting.node)
            self._node_read_at = now
        return node


def _advice(error: ClusterError) -> str:
    if error.status == 404:
        return "Install the CRDs of deploy/crds, and name a node that exists."
    if error.status in (401, 403):
        return "Apply deploy/rbac/agent.yaml and run as its service account."
    return "It is tried again."
