"""Whole rounds of an agent on a cluster in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.agent.agent import Agent, AgentSettings
from fourleaf.agent.metrics import AgentMetrics
from fourleaf.agent.readings import Reading
from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Conflict, Throttled
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, GPU_NODE_STATUSES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, MemoryStore
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.crds.node_status import NodeDevices
from tests.agent.made import failure, pod, process, reading
from tests.agent.test_publisher import Failing
from tests.twins.virtual_clock import VirtualClock


class Bench:
    """An agent of node n1, which reads what `devices` is."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.wire = Failing()
        store = MemoryStore(self.clock)
        self.others = MemoryCluster(store)
        self.cluster = MemoryCluster(store, interceptors=[self.wire])
        self.metrics = AgentMetrics(self.clock)
        self.devices = reading()
        self.task: asyncio.Task[None] | None = None
        self.agent = self._agent()

    def _agent(self, boot_id: str = "boot-1") -> Agent:
        setting = AgentSettings("n1", boot_id=boot_id)
        return Agent(self.cluster, self.clock, self._read, setting, self.metrics)

    async def _read(self) -> Reading:
        return self.devices

    async def add_node(self, boot_id: str = "boot-1") -> str:
        """Let the kubelet register; the UID of the node."""
        status = {"nodeInfo": {"bootID": boot_id}}
        made = await self.others.create(NODES, "", {"metadata": {"name": "n1"}, "status": status})
        return str(made["metadata"]["uid"])

    async def add_pod(self, name: str, granted: str = "", **more: Any) -> str:
        """Have a pod on n1; its UID."""
        await add_namespace(self.others, "ml")
        made = await self.others.create(PODS, "ml", pod(name, granted, **more))
        return str(made["metadata"]["uid"])

    def start(self) -> None:
        """Let the agent run."""
        self.task = asyncio.create_task(self.agent.run())

    async def stop(self) -> None:
        """End it."""
        if self.task is not None:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task

    async def status(self) -> NodeDevices:
        """The inventory of n1."""
        body = await self.others.get(GPU_NODE_STATUSES, Target("", "n1"))
        return NodeDevices.model_validate(body["status"])

    async def said(self, type_: str) -> tuple[str, str]:
        """Status and reason of a condition."""
        conditions = (await self.status()).conditions
        return next((one.status, one.reason) for one in conditions if one.type == type_)

    def value(self, name: str, **labels: str) -> float:
        """The value of a metric."""
        found = self.metrics.registry.get_sample_value(f"fourleaf_agent_{name}", labels)
        assert found is not None
        return found


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """An agent that does not run yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def test_a_quiet_hour(bench: Bench) -> None:
    """Two writes at the start; then, for an hour of the same, none."""
    uid = await bench.add_node()
    await bench.add_pod("a", "0")
    bench.devices = reading(process(0, await bench.add_pod("b", "0,1")))
    bench.start()
    await bench.clock.advance(3600)
    assert bench.wire.writes == 2
    assert bench.agent.rounds > 180
    status = await bench.status()
    assert (status.node_uid, status.boot_id) == (uid, "boot-1")
    assert await bench.said("Ready") == ("True", "InventoryRead")
    assert await bench.said("DevicesMatch") == ("True", "AsGranted")
    assert bench.value("publishes_total") == 2
    assert bench.value("devices", health="healthy") == 2
    assert bench.value("ready") == 1
    assert bench.agent.ready
    assert bench.agent.beat_age() < 30


async def test_pods_of_other_nodes_are_none_of_its_business(bench: Bench) -> None:
    """A grant of device 0 on node n2 is no grant of device 0 here."""
    await bench.add_node()
    await bench.add_pod("there", "0", node="n2")
    here = await bench.add_pod("here", limits={"nvidia.com/gpu": "1"})
    bench.devices = reading(process(0, here))
    bench.start()
    await bench.clock.advance(60)
    assert await bench.said("DevicesMatch") == ("True", "AsGranted")


async def test_a_mismatch_is_told_once(bench: Bench) -> None:
    """A condition, a metric and one event on the pod, however long it lasts; then it is over."""
    await bench.add_node()
    uid = await bench.add_pod("a", "0")
    await bench.add_pod("b", "1")
    bench.devices = reading(process(1, uid))
    bench.start()
    await bench.clock.advance(1800)
    assert await bench.said("DevicesMatch") == ("False", "NotAsGranted")
    assert bench.value("mismatches") == 1
    (event,) = (await bench.others.list(EVENTS)).items
    assert (event["regarding"]["name"], event["regarding"]["uid"]) == ("a", uid)
    assert event["note"] == "device 1: pod ml/a runs on it, and it is granted to pod ml/b"
    assert (event["reason"], event["reportingInstance"]) == ("DevicesNotGranted", "n1")
    assert bench.wire.writes == 3
    bench.devices = reading(process(0, uid))
    await bench.clock.advance(60)
    assert await bench.said("DevicesMatch") == ("True", "AsGranted")
    assert bench.value("mismatches") == 0


async def test_a_driver_that_fails_and_comes_back(bench: Bench) -> None:
    """The devices stay, not healthy; then all is as before. Two changes, two writes."""
    await bench.add_node()
    bench.start()
    await bench.clock.advance(60)
    bench.devices = failure()
    await bench.clock.advance(600)
    assert await bench.said("Ready") == ("False", "DriverUnavailable")
    assert [gpu.healthy for gpu in (await bench.status()).gpus] == [False, False]
    assert bench.value("devices", health="unhealthy") == 2
    assert bench.value("ready") == 0
    assert bench.value("last_read_age_seconds") > 500
    bench.devices = reading()
    await bench.clock.advance(60)
    assert await bench.said("Ready") == ("True", "InventoryRead")
    assert bench.wire.writes == 4
    assert bench.value("last_read_age_seconds") < 30


async def test_a_cluster_that_fails(bench: Bench) -> None:
    """Conflicts, 500 and 429 are counted and tried again, ever more rarely, until it works."""
    await bench.add_node()
    bench.wire.errors = [
        Conflict("conflict", 409),
        *(Ambiguous("internal error", 500) for _ in range(20)),
        Throttled("too many", 429, retry_after=100.0),
    ]
    bench.start()
    await bench.clock.advance(300)
    assert bench.wire.writes < 22
    await bench.clock.advance(3600)
    assert bench.wire.errors == []
    assert await bench.said("Ready") == ("True", "InventoryRead")
    assert bench.value("publish_errors_total", status="409") == 1
    assert bench.value("publish_errors_total", status="500") == 20
    assert bench.value("publish_errors_total", status="429") == 1


async def test_a_server_that_asks_for_time(bench: Bench) -> None:
    """What asks to be left alone for 25 seconds is."""
    await bench.add_node()
    bench.wire.errors = [Throttled("too many", 429, retry_after=25.0)]
    bench.start()
    await bench.clock.advance(24)
    assert bench.wire.writes == 1
    await bench.clock.advance(10)
    assert bench.wire.writes == 3


async def test_a_node_that_is_not_registered_yet(bench: Bench) -> None:
    """It is waited for, and its inventory follows."""
    bench.start()
    await bench.clock.advance(60)
    assert bench.value("publish_errors_total", status="404") > 1
    assert not bench.agent.ready
    await bench.add_node()
    await bench.clock.advance(240)
    assert await bench.said("Ready") == ("True", "InventoryRead")


async def test_a_kubelet_that_lags_behind_a_reboot(bench: Bench) -> None:
    """The boot is the kubelet's; while it is another than the kernel's it is asked again."""
    await bench.add_node("boot-0")
    bench.start()
    await bench.clock.advance(60)
    assert (await bench.status()).boot_id == "boot-0"
    patch = {"status": {"nodeInfo": {"bootID": "boot-1"}}}
    await bench.others.patch(NODES, Target("", "n1"), patch, "status")
    await bench.clock.advance(30)
    assert (await bench.status()).boot_id == "boot-1"


async def test_a_node_that_was_made_anew(bench: Bench) -> None:
    """The inventory is the new node's within five minutes."""
    await bench.add_node()
    bench.start()
    await bench.clock.advance(60)
    await bench.others.delete(NODES, Target("", "n1"))
    uid = await bench.add_node()
    await bench.clock.advance(330)
    assert (await bench.status()).node_uid == uid


async def test_without_the_pods_devices_are_published_all_the_same(bench: Bench) -> None:
    """Where the pods cannot be listed, nothing is compared, and the condition says so."""
    await bench.add_node()
    refusing = bench.cluster

    async def no_list(*_: Any, **__: Any) -> Any:
        raise Ambiguous("no answer")

    refusing.list = no_list  # type: ignore[method-assign]
    bench.devices = reading(process(0, "u-x"))
    bench.start()
    await bench.clock.advance(60)
    assert await bench.said("Ready") == ("True", "InventoryRead")
    assert await bench.said("DevicesMatch") == ("Unknown", "PodsUnknown")


async def test_once(bench: Bench) -> None:
    """One round, with the pods known and the events written."""
    await bench.add_node()
    uid = await bench.add_pod("a", "0")
    bench.devices = reading(process(1, uid))
    done = await bench.clock.run(bench.agent.once())
    assert (done.ready, done.error) == (True, None)
    assert [one.gpu for one in done.mismatches] == [1]
    assert len((await bench.others.list(EVENTS)).items) == 1
    assert await bench.said("DevicesMatch") == ("False", "NotAsGranted")
