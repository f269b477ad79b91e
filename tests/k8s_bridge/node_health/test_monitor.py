"""Healthy pods stay where they are, whatever a node looks like for a moment."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import node, nodes
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target, WatchEvent
from fourleaf.k8s_bridge.node_health.deleted_nodes import GONE_SECONDS
from fourleaf.k8s_bridge.node_health.heartbeats import NAMESPACE
from fourleaf.k8s_bridge.node_health.probe import (
    FAILURE_THRESHOLD,
    PROBES_AT_ONCE,
    AbsentError,
    KubeletAddress,
)
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from tests.k8s_bridge.relocation.bench import Bench
from tests.twins import heartbeats


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves of four nodes, no scheduler yet."""
    one = Bench(1, 2)
    yield one
    await one.stop()


async def evicted(bench: Bench, before: dict[int, str]) -> int:
    """How many members are others by now."""
    now = await bench.uids("g")
    return sum(uid != now.get(index) for index, uid in before.items())


async def given_up(bench: Bench, name: str) -> None:
    """The node controller says that it hears nothing of the node."""
    status = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    await bench.cluster.patch(NODES, Target("", name), status, "status")


@pytest.mark.parametrize(
    ("lost", "gone"), [(1, 0), (FAILURE_THRESHOLD - 1, 0), (FAILURE_THRESHOLD + 1, 4)]
)
async def test_probes_that_are_lost(bench: Bench, lost: int, gone: int) -> None:
    """A kubelet is restarted; its host does not answer for some seconds: three probes count."""
    await bench.start()
    await bench.submit("g", 4)
    before = await bench.uids("g")
    at = (await bench.places("g"))[0]
    bench.heartbeats.silent.add(at)
    await bench.clock.advance(25)
    bench.heartbeats.unreachable.add(at)
    await bench.clock.advance(lost)
    bench.heartbeats.unreachable.discard(at)
    await bench.clock.advance(10)
    bench.heartbeats.silent.discard(at)
    await bench.clock.advance(20)
    assert (await evicted(bench, before) > 0) == (gone > 0)


async def test_probes_that_were_lost_before(bench: Bench) -> None:
    """Two in one silence, two in the next beside a dead node of the leaf: not three in a row."""
    await bench.start()
    await bench.submit("g", 3)
    before, at = await bench.uids("g"), (await bench.places("g"))[0]
    (idle,) = {f"n-0-0-{i}" for i in range(4)} - set((await bench.places("g")).values())
    bench.heartbeats.lose([idle])
    bench.heartbeats.silent.add(at)
    await bench.clock.advance(40)
    bench.heartbeats.unreachable.add(at)
    await bench.clock.advance(FAILURE_THRESHOLD - 1)
    bench.heartbeats.restore([at])
    await bench.clock.advance(1)
    bench.heartbeats.lose([at])
    await bench.clock.advance(13)
    bench.heartbeats.restore([at])
    await bench.clock.advance(20)
    assert await evicted(bench, before) == 0


@pytest.mark.parametrize("who", ["some", "all"])
async def test_who_cannot_be_asked_is_not_dead(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """The API is cut off from four kubelets, and says so; this process has no files left to ask."""
    await bench.start()
    await bench.submit("g", 4)
    before, cut_off = await bench.uids("g"), set((await bench.places("g")).values())

    async def answers(_: object, door: KubeletAddress) -> bool | None:
        return None if who == "all" or door.host in cut_off else True

    monkeypatch.setattr(type(bench.heartbeats), "answers", answers)
    bench.heartbeats.silent |= cut_off
    await bench.clock.advance(45)
    for name in cut_off:
        await given_up(bench, name)
    await bench.clock.advance(30)
    assert await evicted(bench, before) == 0


async def test_who_may_not_be_asked_is_dead_once_it_is_given_up(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy denies this process all connections to hosts: the node controller decides."""
    await bench.start()
    await bench.submit("g", 4)
    before, name = await bench.uids("g"), (await bench.places("g"))[0]

    async def answers(_: object, door: KubeletAddress) -> bool | None:
        raise PermissionError(errno.EPERM, door.host)

    monkeypatch.setattr(type(bench.heartbeats), "answers", answers)
    bench.lose(name)
    await bench.clock.advance(45)
    assert await evicted(bench, before) == 0
    await given_up(bench, name)
    await bench.clock.advance(30)
    assert await evicted(bench, before) > 0


class LeasesDenied:
    """Leases of kubelets may be read no more once it is `on`, nor do watches bring any."""

    on = False

    async def before(self, request: ApiRequest) -> None:
        """Refuse to list or watch them."""
        self._refuse(request)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """End their watches."""
        self._refuse(request)

    def _refuse(self, request: ApiRequest) -> None:
        is_meant = request.kind is LEASES and request.target.namespace == NAMESPACE
        if self.on and is_meant and request.verb in ("list", "watch"):
            raise Refused("forbidden", 403)


async def test_leases_that_may_be_read_no_more_hide_no_death(bench: Bench) -> None:
    """A role is edited, and then a node loses power: it is dead once the API says so."""
    denied = LeasesDenied()
    await bench.start(answers=denied)
    await bench.submit("g", 4)
    before, name = await bench.uids("g"), (await bench.places("g"))[0]
    denied.on = True
    await bench.clock.advance(80)
    bench.lose(name)
    await bench.clock.advance(45)
    assert await evicted(bench, before) == 0
    await given_up(bench, name)
    await bench.clock.advance(30)
    assert await evicted(bench, before) > 0
    assert name not in (await bench.places("g")).values()


async def test_no_host_can_be_heard_from_here(bench: Bench) -> None:
    """A firewall keeps the leader from all kubelets: one that is late is not dead for that."""
    await bench.start()
    await bench.submit("g", 4)
    before = await bench.uids("g")
    bench.heartbeats.silent.add((await bench.places("g"))[0])
    bench.heartbeats.unreachable |= {one["metadata"]["name"] for one in bench.fabric}
    await bench.clock.advance(35)
    assert await evicted(bench, before) == 0


@pytest.mark.parametrize("seconds", [1, 10, GONE_SECONDS - 2])
async def test_a_node_that_is_registered_anew(bench: Bench, seconds: float) -> None:
    """Its object is deleted and made again by its kubelet: its pods run on, nothing is evicted."""
    await bench.start()
    await bench.submit("g", 4)
    before = await bench.uids("g")
    name = (await bench.places("g"))[0]
    (body,) = (one for one in bench.fabric if one["metadata"]["name"] == name)
    await bench.cluster.delete(NODES, Target("", name))
    await bench.clock.advance(seconds)
    await bench.cluster.create(NODES, "", body)
    await bench.clock.advance(60)
    assert await evicted(bench, before) == 0


async def test_a_node_that_is_gone(bench: Bench) -> None:
    """Forty seconds after its object went, its member is made again elsewhere."""
    await bench.start()
    await bench.submit("g", 4)
    before = await bench.uids("g")
    name = (await bench.places("g"))[0]
    bench.lose(name)
    await bench.cluster.delete(NODES, Target("", name))
    await bench.clock.advance(GONE_SECONDS - 5)
    assert await evicted(bench, before) == 0
    await bench.clock.advance(30)
    assert await evicted(bench, before) > 0
    assert name not in (await bench.places("g")).values()


class DeafToNodes(MemoryCluster):
    """Its watch of nodes falls silent, as a connection does that a firewall has forgotten."""

    deaf = False

    async def watch(
        self,
        kind: Kind,
        version: str,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[WatchEvent]:
        """Events, those of nodes only while it hears."""
        async with aclosing(super().watch(kind, version, namespace, labels, fields)) as events:
            async for event in events:
                while kind == NODES and self.deaf:
                    await self.store.clock.sleep(0.5)
                yield event


async def test_a_standby_that_has_not_heard_of_a_node(bench: Bench) -> None:
    """A gang runs on a leaf that only the dead leader knew: the next one asks before it acts."""
    await bench.start()
    store = bench.cluster.store
    deaf = DeafToNodes(store, identity="b")
    metrics = SchedulerMetrics()
    standby = Scheduler(
        deaf,
        bench.clock,
        bench.solved.plan,
        SchedulerOptions(identity="b", dry_run="never"),
        lambda one: Reporter(one, metrics),
        planner=bench.solved,
        prober=bench.heartbeats,
    )
    leader = bench.tasks[-1]
    bench.tasks.append(asyncio.ensure_future(standby.run()))
    await bench.clock.advance(1)
    deaf.deaf = True
    await bench.submit("first", 8)
    for i in range(4):
        await bench.cluster.create(NODES, "", node(f"n-0-9-{i}", "leaf-0-9", "spine-0"))
    await bench.clock.advance(3)
    await bench.submit("g", 4)
    assert all(place.startswith("n-0-9-") for place in (await bench.places("g")).values())
    before = await bench.uids("g")
    await bench.delete("first")
    await bench.clock.advance(3)
    leader.cancel()
    await bench.clock.advance(100)
    assert standby.leading
    assert await evicted(bench, before) == 0


class Crowd:
    """Counts how many are asked at once."""

    def __init__(self, bench: Bench) -> None:
        self.clock = bench.clock
        self.now = self.most = 0

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Say yes after a tenth of a second."""
        self.now += 1
        self.most = max(self.most, self.now)
        await self.clock.sleep(0.1)
        self.now -= 1
        return True


async def test_a_crowd_of_suspects_is_asked_by_and_by(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """400 kubelets fall silent at once: all are asked, at most 256 of them at a time."""
    crowd = Crowd(bench)
    monkeypatch.setattr(type(bench.heartbeats), "answers", lambda _, door: crowd.answers(door))
    bench.fabric = nodes(4, 25, 4)
    await bench.start()
    bench.heartbeats.silent |= {one["metadata"]["name"] for one in bench.fabric}
    await bench.clock.advance(20)
    assert crowd.most == PROBES_AT_ONCE


async def test_a_host_that_answers_at_its_second_address_lives(bench: Bench) -> None:
    """The first one is not reached from here, and its kubelet is silent: no member moves."""
    await bench.start()
    await bench.submit("g", 4)
    before, name = await bench.uids("g"), (await bench.places("g"))[0]
    both = [{"type": "InternalIP", "address": one} for one in ("10.9.9.9", name)]
    await bench.cluster.patch(NODES, Target("", name), {"status": {"addresses": both}}, "status")
    bench.heartbeats.unreachable.add("10.9.9.9")
    bench.heartbeats.silent.add(name)
    await bench.clock.advance(40)
    assert not await evicted(bench, before)


class OneFamily:
    """A pod without IPv6 probes; by IPv4 it hears what there is."""

    def __init__(self, beats: heartbeats.FakeHeartbeats) -> None:
        self.beats = beats

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether a host answers by IPv4."""
        if door.host.startswith("fd00::"):
            raise AbsentError
        return await self.beats.answers(door)


async def test_a_host_without_power_has_an_address_that_is_not_to_be_had_here(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All nodes are of two families, and the scheduler of one: the member moves all the same."""
    for number, body in enumerate(bench.fabric):
        both = (body["metadata"]["name"], f"fd00::{number}")
        body["status"]["addresses"] = [{"type": "InternalIP", "address": one} for one in both]
    beats = bench.heartbeats
    monkeypatch.setattr(bench, "heartbeats", OneFamily(beats))
    await bench.start()
    monkeypatch.setattr(bench, "heartbeats", beats)
    await bench.submit("g", 4)
    name = (await bench.places("g"))[0]
    bench.lose(name)
    await bench.clock.advance(60)
    places = await bench.places("g")
    assert len(places) == 4
    assert name not in places.values()


@pytest.mark.parametrize(("silent", "every"), [(12, 10.0), (20, 16.0)])
async def test_a_kubelet_that_seldom_renews_is_well_again(
    monkeypatch: pytest.MonkeyPatch, silent: int, every: float
) -> None:
    """A node dies, comes back, and takes gangs again: its host answers in between."""
    monkeypatch.setattr(heartbeats, "HEARTBEAT_SECONDS", every)
    bench = Bench(1, 2)
    await bench.config(f"{{failures: {{silentSeconds: {silent}}}}}")
    await bench.start()
    await bench.submit("g", 1)
    (name,) = (await bench.places("g")).values()
    bench.lose(name)
    await bench.clock.advance(150)
    bench.restore(name)
    await bench.clock.advance(900)
    await bench.submit("w", 7)
    await bench.clock.advance(30)
    assert len(await bench.places("w")) == 7
    await bench.stop()
