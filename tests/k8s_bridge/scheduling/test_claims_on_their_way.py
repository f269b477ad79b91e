"""A claim on its way to one pod holds back others that name it, and keeps no node from anybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import STORAGE_CLASSES, VOLUME_CLAIMS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, pod, submit
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.scheduling.test_compute_domain import Rack, with_channel
from tests.k8s_bridge.test_scheduler import TEAM, greedy
from tests.twins.volume_provisioner import Provisioner

VOLUME_SECONDS = 100.0
NAMED = {"resourceClaimName": "one"}


class CountingRack(Rack):
    """A rack that counts how often the solver was asked."""

    solves = 0

    async def solve(self, snapshot: Snapshot) -> Plan:
        """The greedy plan."""
        self.solves += 1
        return await greedy(snapshot)


@pytest.fixture
async def rack() -> AsyncIterator[CountingRack]:
    """Two nodes; `first` waits on one for its volume, and the shared claim `one` goes to it."""
    rack = CountingRack()
    await rack.set_up("env")
    provisioner = Provisioner(rack.cluster.store, VOLUME_SECONDS)
    rack.tasks.append(asyncio.ensure_future(provisioner.run()))
    fast = {"metadata": {"name": "fast"}, "provisioner": "disk.example.org"}
    fast["volumeBindingMode"] = "WaitForFirstConsumer"
    await rack.cluster.create(STORAGE_CLASSES, "", fast)
    await rack.start(solve=rack.solve)
    await rack.shared("one")
    spec = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
    await rack.cluster.create(VOLUME_CLAIMS, TEAM, {"metadata": {"name": "data"}, "spec": spec})
    first = with_channel(pod("first", 1), **NAMED)
    first["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    await submit(rack.cluster, TEAM, [first])
    await rack.clock.advance(5)
    yield rack
    await rack.stop()


async def test_the_node_is_free_for_others_meanwhile(rack: CountingRack) -> None:
    """`second` asks for the other node whole and names the claim: `plain` has that node at once."""
    await submit(rack.cluster, TEAM, [with_channel(pod("second", 8), **NAMED)])
    await rack.clock.advance(10)
    said = await rack.condition("second")
    assert "ResourceClaim one is on its way to another pod" in said
    assert "ResourceClaimTemplate" in said
    await add_namespace(rack.cluster, "other")
    await submit(rack.cluster, "other", [pod("plain", 8)])
    await rack.clock.advance(5)
    assert "plain" in await rack.places()


async def test_it_follows_once_the_claim_is_there(rack: CountingRack) -> None:
    """The volume comes, `first` runs with the claim, and `second` joins it on its node."""
    await submit(rack.cluster, TEAM, [with_channel(pod("second", 1), **NAMED)])
    await rack.clock.advance(VOLUME_SECONDS - 20)
    assert not await rack.places()
    await rack.clock.advance(40)
    places = await rack.places()
    assert places.keys() == {"first", "second"}
    assert len(set(places.values())) == 1


async def test_no_plan_is_made_for_it_again_and_again(rack: CountingRack) -> None:
    """Half a minute in which nothing else happens takes three solves at most, not one a second."""
    await submit(rack.cluster, TEAM, [with_channel(pod("second", 8), **NAMED)])
    await rack.clock.advance(5)
    before = rack.solves
    await rack.clock.advance(30)
    assert rack.solves - before <= 3
