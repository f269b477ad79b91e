"""Volumes that are made on first use: selected, awaited, taken back; no member starts before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import EVENTS, NODES, STORAGE_CLASSES, VOLUME_CLAIMS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.volume_provisioning import PROVISION_LIMIT_SECONDS, SELECTED_NODE
from tests.k8s_bridge.test_scheduler import TEAM, Bench
from tests.twins.volume_provisioner import Provisioner


class StorageBench(Bench):
    """Two leaves of two nodes, a class `fast` whose volumes are made on first use."""

    def __init__(self) -> None:
        super().__init__()
        self.provisioner = Provisioner(self.cluster.store)
        self.tasks.append(asyncio.ensure_future(self.provisioner.run()))

    async def set_up(self) -> None:
        """Make the cluster, and start a scheduler."""
        for body in nodes(1, 2, 2):
            await self.cluster.create(NODES, "", body)
        await add_namespace(self.cluster, TEAM)
        fast = {"metadata": {"name": "fast"}, "provisioner": "disk.example.org"}
        await self.cluster.create(
            STORAGE_CLASSES, "", fast | {"volumeBindingMode": "WaitForFirstConsumer"}
        )
        await self.start()

    async def submit(self, name: str, size: int) -> None:
        """Submit a gang of which each member has a claim of its own."""
        bodies = gang(name, size)
        for body in bodies:
            claim = f"data-{body['metadata']['name']}"
            spec = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
            await self.cluster.create(
                VOLUME_CLAIMS, TEAM, {"metadata": {"name": claim}, "spec": spec}
            )
            volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
            body["spec"]["volumes"] = [volume]
        await submit(self.cluster, TEAM, bodies)

    async def claim(self, name: str) -> Body:
        """A claim as it is."""
        return await self.cluster.get(VOLUME_CLAIMS, Target(TEAM, name))


@pytest.fixture
async def bench() -> AsyncIterator[StorageBench]:
    """A cluster with storage and a scheduler."""
    bench = StorageBench()
    await bench.set_up()
    yield bench
    await bench.stop()


async def test_members_start_once_their_volumes_are_made(bench: StorageBench) -> None:
    """Each claim is told the node of its pod; 3 s later the volumes are there, and both start."""
    await bench.submit("g", 2)
    await bench.clock.advance(2)
    assert await bench.places() == {}
    await bench.clock.advance(15)
    places = await bench.places()
    assert set(places) == {"g-0", "g-1"}
    assert dict(bench.provisioner.selected) == {f"data-{pod}": places[pod] for pod in places}


async def test_a_volume_that_cannot_be_made_sends_the_gang_elsewhere(bench: StorageBench) -> None:
    """One node has no room for volumes: no member starts beside it, none is evicted."""
    bench.provisioner.full = {"n-0-0-1"}
    await bench.submit("g", 2)
    await bench.clock.advance(15)
    assert await bench.places() == {}
    assert "no volume for PersistentVolumeClaim ml/data-g-" in str(
        (await bench.cluster.list(EVENTS)).items
    )
    bench.provisioner.full = ()
    await bench.clock.advance(120)
    assert len(await bench.places()) == 2


async def test_a_volume_that_never_comes_frees_the_nodes(bench: StorageBench) -> None:
    """After ten minutes the gang goes back, and its claims may be for any node again."""
    bench.provisioner._seconds = 10 * PROVISION_LIMIT_SECONDS
    await bench.submit("g", 2)
    await bench.clock.advance(5)
    assert (await bench.claim("data-g-0"))["metadata"]["annotations"][SELECTED_NODE]
    for body in nodes(1, 2, 2):
        cordoned = {"spec": {"unschedulable": True}}
        await bench.cluster.patch(NODES, Target("", body["metadata"]["name"]), cordoned)
    await bench.clock.advance(PROVISION_LIMIT_SECONDS + 8)
    assert await bench.places() == {}
    said = str((await bench.cluster.list(EVENTS)).items)
    assert "has no volume for" in said
    assert "after 600 s" in said
    for name in ("data-g-0", "data-g-1"):
        assert not (await bench.claim(name))["metadata"].get("annotations")


async def test_a_leader_that_takes_over_goes_on_waiting(bench: StorageBench) -> None:
    """The first one dies while the volumes are made; the second one binds once they are."""
    bench.provisioner._seconds = 60.0
    await bench.submit("g", 2)
    await bench.clock.advance(5)
    bench.tasks[-1].cancel()
    await bench.start("b")
    await bench.clock.advance(120)
    assert set(await bench.places()) == {"g-0", "g-1"}
    assert len(bench.provisioner.selected) == 2
