"""A scheduler whose watches lag knows what it wrote itself, and asks before it frees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, PODS, PRIORITY_CLASSES, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_nodes, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, WatchEvent
from fourleaf.k8s_bridge.ledger.formats.codec import read_page
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.names import PAGES
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.scheduling.cycle import Cycle
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.k8s_bridge.scheduling.silent_nodes import SilentNodes
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.test_scheduler import TEAM, Bench
from tests.twins.virtual_clock import VirtualClock


class Withholding(MemoryCluster):
    """Never tells of the pods that `withheld` picks; requests are answered in full."""

    withheld: Callable[[Body], bool] = staticmethod(lambda body: False)

    async def watch(
        self, kind: Kind, version: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """Everything else that happens."""
        async with aclosing(super().watch(kind, version, namespace, labels, fields)) as events:
            async for event in events:
                opened = event.type == "OPENED"
                if kind is not PODS or opened or not self.withheld(event.object):
                    yield event


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A cluster of four leaves of four nodes."""
    bench = Bench()
    for body in nodes(1, 4, 4):
        await bench.cluster.create(NODES, "", body)
    yield bench
    await bench.stop()


def blind(bench: Bench, name: str) -> Withholding:
    """A client that hears of no pod once it is bound."""
    client = Withholding(bench.cluster.store, identity=name)
    client.withheld = lambda body: bool(body["spec"].get("nodeName"))
    return client


async def test_room_that_was_just_given_away_is_not_given_again(bench: Bench) -> None:
    """20 gangs come one by one for 16 nodes; the leader sees no binding, and the last go first."""
    urgent = {"metadata": {"name": "urgent"}, "value": 100}
    await bench.cluster.create(PRIORITY_CLASSES, "", urgent)
    await bench.start(client=blind(bench, "a"))
    for number in range(20):
        (pod,) = gang(f"g{number}", 1)
        if number >= 8:
            pod["spec"]["priorityClassName"] = "urgent"
        await submit(bench.cluster, TEAM, [pod])
        await bench.clock.advance(0.5)
    places = await bench.places()
    assert len(places) == 16
    assert len(set(places.values())) == 16


async def test_a_member_that_is_bound_stands_before_the_watch_says_so() -> None:
    """It is on its way in one cycle and bound in the next: in neither does its gang wait."""
    clock = VirtualClock()
    unused: Any = None
    cluster, cache = MemoryCluster(), ClusterCache(clock)
    await add_nodes(cluster, nodes(1, 1, 1))
    (pod,) = await submit(cluster, TEAM, gang("g", 1))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    member, ledger = Member(pod, "n-0-0-0", ()), Ledger()
    cycle = Cycle(
        cache, ledger, unused, unused, unused, clock, ApiBackoff(clock), SilentNodes(clock)
    )
    with ledger.deciding([Commit("c", GangKey(TEAM, "g"), None, (member,), ())]):
        cycle._assume_on_their_way()
        assert not cache.reading().snapshot.gangs
    cache.bound(member)
    cycle._assume_on_their_way()
    assert not cache.reading().snapshot.gangs
    assert [one.node for one in cache.reading().snapshot.running] == ["n-0-0-0"]


async def test_members_on_their_way_wait_again_when_the_term_is_over() -> None:
    """Whoever leads next takes them from the records: here they stand nowhere, and hold nothing."""
    clock = VirtualClock()
    unused: Any = None
    cluster, cache = MemoryCluster(), ClusterCache(clock)
    await add_nodes(cluster, nodes(1, 1, 1))
    (pod,) = await submit(cluster, TEAM, gang("g", 1))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    member, ledger = Member(pod, "n-0-0-0", ()), Ledger()
    cycle = Cycle(
        cache, ledger, unused, unused, unused, clock, ApiBackoff(clock), SilentNodes(clock)
    )
    with ledger.deciding([Commit("c", GangKey(TEAM, "g"), None, (member,), ())]):
        cycle._assume_on_their_way()
        assert not cache.reading().snapshot.gangs
        cycle.forget()
    snapshot = cache.reading().snapshot
    assert [one.key.name for one in snapshot.gangs] == ["g"]
    assert not snapshot.running


async def test_a_new_leader_asks_before_it_takes_pods_for_gone(bench: Bench) -> None:
    """A standby that has heard of none of the bound pods leaves them their room."""
    deaf = Withholding(bench.cluster.store, identity="b")
    deaf.withheld = lambda body: body["metadata"]["name"].startswith("old")
    await bench.start("a")
    await bench.start("b", client=deaf)
    await submit(bench.cluster, TEAM, gang("old", 4))
    await bench.clock.advance(2)
    held = set((await bench.places()).values())
    assert len(held) == 4
    bench.tasks[1].cancel()
    await bench.clock.advance(10)
    await submit(bench.cluster, TEAM, gang("new", 16))
    await submit(bench.cluster, TEAM, gang("fits", 4))
    await bench.clock.advance(10)
    places = await bench.places()
    assert sorted(name for name in places if not name.startswith("old")) == [
        f"fits-{i}" for i in range(4)
    ]
    assert not held & {node for name, node in places.items() if name.startswith("fits")}
    leases = (await bench.cluster.list(LEASES, "kube-system", PAGES)).items
    written = [m.pod.name for one in leases for e in read_page(one).entries for m in e.members]
    assert sorted(written) == sorted(places)
