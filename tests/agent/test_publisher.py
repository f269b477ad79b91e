"""When the inventory is written, and what becomes of writes that fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from fourleaf.agent.inventory import inventory
from fourleaf.agent.inventory_consistency import examined
from fourleaf.agent.node import NodeIdentity
from fourleaf.agent.publisher import MANAGER, Publisher
from fourleaf.agent.readings import Reading
from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Conflict, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import GPU_NODE_STATUSES
from fourleaf.k8s_bridge.cluster.memory import ApiRequest, MemoryCluster, MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.crds.node_status import NodeDevices
from tests.agent.made import gpus, process, reading
from tests.twins.virtual_clock import VirtualClock

HERE = Target("", "n1")


@dataclass
class Failing:
    """Counts writes; `errors` are raised, one for each write, before it is done or after."""

    writes: int = 0
    errors: list[ClusterError] = field(default_factory=list)
    after_all: list[ClusterError] = field(default_factory=list)

    async def before(self, request: ApiRequest) -> None:
        """Refuse what is to be refused."""
        if request.writes:
            self.writes += 1
            if self.errors:
                raise self.errors.pop(0)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Lose answers."""
        if request.writes and self.after_all:
            raise self.after_all.pop(0)


class Bench:
    """A publisher on a cluster in memory, whose requests are seen."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.wire = Failing()
        self.cluster = MemoryCluster(MemoryStore(self.clock), interceptors=[self.wire])
        self.publisher = Publisher(self.cluster, self.clock)
        self.node = NodeIdentity("n1", "uid-1", "boot-1")

    async def publish(self, what: Reading) -> bool:
        """Publish a reading, now."""
        await self.publisher.look("n1")
        standing = self.publisher.standing
        devices = inventory(self.node, examined(what), [], standing, self.clock.wall())
        return await self.publisher.publish(self.node, devices)

    async def body(self) -> Body:
        """What stands."""
        return await self.cluster.get(GPU_NODE_STATUSES, HERE)

    async def status(self) -> NodeDevices:
        """The status that stands."""
        return NodeDevices.model_validate((await self.body())["status"])


@pytest.fixture
def bench() -> Bench:
    """A publisher that has not published yet."""
    return Bench()


async def test_only_the_first_of_a_hundred_readings_is_written(bench: Bench) -> None:
    """The object and its status, and then nothing; nor by a publisher that starts anew."""
    for _ in range(100):
        await bench.publish(reading(process(0, "u-a")))
        await bench.clock.advance(15)
    assert bench.wire.writes == 2
    body = await bench.body()
    bench.publisher = Publisher(bench.cluster, bench.clock)
    assert not await bench.publish(reading(process(0, "u-a")))
    assert await bench.body() == body
    (owner,) = body["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Node", "n1", "uid-1")


async def test_a_change_is_written_at_once(bench: Bench) -> None:
    """A device that falls ill, and recovers: one write each."""
    await bench.publish(reading())
    ill = Reading("nvml", "580.65", gpus(healthy=False), reading().links)
    assert await bench.publish(ill)
    assert [gpu.healthy for gpu in (await bench.status()).gpus] == [False, False]
    assert await bench.publish(reading())
    assert bench.wire.writes == 4


async def test_what_is_no_longer_there_goes(bench: Bench) -> None:
    """A device fewer, no links: neither stays behind in the status."""
    await bench.publish(reading(count=3))
    await bench.publish(Reading("nvml", "580.65", gpus(1)))
    status = await bench.status()
    assert ([gpu.index for gpu in status.gpus], status.links) == ([0], [])


async def test_memory_of_processes_is_no_news(bench: Bench) -> None:
    """However it changes, nothing is written; the next write has it as it is then."""
    await bench.publish(reading(process(0, "u-a", memory=100)))
    for memory in range(101, 120):
        await bench.clock.advance(60)
        assert not await bench.publish(reading(process(0, "u-a", memory=memory)))
    await bench.publish(reading(process(0, "u-a", memory=500), process(1, "u-b")))
    assert [one.memory_mib for one in (await bench.status()).processes] == [500, 0]


async def test_processes_that_come_and_go_are_written_once_a_minute(bench: Bench) -> None:
    """In ten minutes of a new process every 15 seconds, ten writes; the last state is told."""
    await bench.publish(reading())
    await bench.clock.advance(60)
    before = bench.wire.writes
    for number in range(40):
        await bench.publish(reading(process(0, "u-a", pid=number)))
        await bench.clock.advance(15)
    assert bench.wire.writes - before == 10
    await bench.clock.advance(60)
    await bench.publish(reading(process(0, "u-a", pid=99)))
    assert [one.pid for one in (await bench.status()).processes] == [99]


async def test_processes_do_not_hold_up_what_matters(bench: Bench) -> None:
    """A device that falls ill is told at once, whatever was written a second ago."""
    await bench.publish(reading())
    assert not await bench.publish(reading(process(0)))
    assert await bench.publish(Reading("nvml", "580.65", gpus(healthy=False)))


@pytest.mark.parametrize(
    "error",
    [
        Conflict("the object has been modified", 409, "Conflict"),
        Ambiguous("internal error", 500, "InternalError"),
        Refused("forbidden", 403, "Forbidden"),
    ],
    ids=str,
)
async def test_a_write_that_fails_is_made_up_for(bench: Bench, error: ClusterError) -> None:
    """It is raised, and the next attempt writes what did not arrive."""
    await bench.publish(reading())
    bench.wire.errors = [error]
    ill = Reading("nvml", "580.65", gpus(healthy=False))
    with pytest.raises(ClusterError):
        await bench.publish(ill)
    assert [gpu.healthy for gpu in (await bench.status()).gpus] == [True, True]
    assert await bench.publish(ill)
    assert [gpu.healthy for gpu in (await bench.status()).gpus] == [False, False]


async def test_a_write_whose_answer_is_lost_is_not_repeated(bench: Bench) -> None:
    """What stands is read first, and it is what was to be written."""
    await bench.publish(reading())
    bench.wire.after_all = [Ambiguous("connection reset")]
    ill = Reading("nvml", "580.65", gpus(healthy=False))
    with pytest.raises(Ambiguous):
        await bench.publish(ill)
    assert not await bench.publish(ill)
    assert bench.wire.writes == 3


async def test_what_others_change_or_delete_comes_back(bench: Bench) -> None:
    """Within five minutes, without anything having changed on the node."""
    await bench.publish(reading())
    await bench.cluster.patch(GPU_NODE_STATUSES, HERE, {"status": {"gpus": []}}, "status")
    await bench.clock.advance(299)
    assert not await bench.publish(reading())
    await bench.clock.advance(1)
    assert await bench.publish(reading())
    assert len((await bench.status()).gpus) == 2
    await bench.cluster.delete(GPU_NODE_STATUSES, HERE)
    await bench.clock.advance(300)
    assert await bench.publish(reading())
    assert len((await bench.status()).gpus) == 2


async def test_the_owner_comes_back(bench: Bench) -> None:
    """An inventory that lost its owner would outlive its node."""
    await bench.publish(reading())
    nobody = {"metadata": {"ownerReferences": None}}
    await bench.cluster.patch(GPU_NODE_STATUSES, HERE, nobody)
    await bench.clock.advance(300)
    assert await bench.publish(reading())
    assert [one["uid"] for one in (await bench.body())["metadata"]["ownerReferences"]] == ["uid-1"]


async def test_an_object_that_goes_between_look_and_write(bench: Bench) -> None:
    """A status of nothing is not found, so the object is made anew."""
    await bench.publish(reading())
    await bench.cluster.delete(GPU_NODE_STATUSES, HERE)
    assert await bench.publish(Reading("nvml", "580.65", gpus(healthy=False)))
    assert not (await bench.status()).gpus[0].healthy


async def test_another_life_of_the_node(bench: Bench) -> None:
    """A new boot is told, and another node of the same name owns the inventory from then on."""
    await bench.publish(reading())
    bench.node = NodeIdentity("n1", "uid-1", "boot-2")
    assert await bench.publish(reading())
    assert (await bench.status()).boot_id == "boot-2"
    bench.node = NodeIdentity("n1", "uid-2", "boot-3")
    assert await bench.publish(reading())
    (owner,) = (await bench.body())["metadata"]["ownerReferences"]
    assert owner["uid"] == (await bench.status()).node_uid == "uid-2"


async def test_a_status_that_nobody_can_read_is_replaced(bench: Bench) -> None:
    """What another program left there does not stop the agent."""
    await bench.publish(reading())
    strange = {"status": {"gpus": "many", "colour": "red"}}
    await bench.cluster.patch(GPU_NODE_STATUSES, HERE, strange, "status")
    bench.publisher = Publisher(bench.cluster, bench.clock)
    assert await bench.publish(reading())
    assert (await bench.body())["status"]["gpus"][0]["uuid"] == "GPU-0"


async def test_what_the_server_takes_for_malformed(bench: Bench) -> None:
    """An empty inventory that says so stands instead of an old one, and is not written again."""
    await bench.publish(reading())
    strange = Reading("nvml", "580.65", gpus(healthy=False))
    bench.wire.errors = [Refused("status.gpus[0]: Invalid value", 422, "Invalid")]
    assert await bench.publish(strange)
    status = await bench.status()
    ready = next(one for one in status.conditions if one.type == "Ready")
    assert (ready.status, ready.reason, status.gpus) == ("False", "Refused", [])
    assert "status.gpus[0]: Invalid value" in ready.message
    writes = bench.wire.writes
    for _ in range(10):
        await bench.clock.advance(60)
        assert not await bench.publish(strange)
    assert bench.wire.writes == writes
    assert await bench.publish(reading())
    assert len((await bench.status()).gpus) == 2


async def test_a_cluster_without_the_kind() -> None:
    """`NotFound` is raised for somebody to be told of the CRDs."""
    clock = VirtualClock()
    store = MemoryStore(clock, missing=[GPU_NODE_STATUSES])
    publisher = Publisher(MemoryCluster(store), clock)
    node = NodeIdentity("n1", "uid-1")
    with pytest.raises(NotFound):
        await publisher.publish(node, inventory(node, examined(reading()), [], None, 0.0))
    assert MANAGER == "fourleaf-agent"
