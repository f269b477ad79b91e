"""What the twin has beyond the contract: a clock, a seed, a history that is forgotten."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Gone, NotFound
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    JOB_SETS,
    NAMESPACES,
    PODS,
)
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, MemoryStore
from fourleaf.k8s_bridge.cluster.memory.actors import Kubelets, add_nodes, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target, WatchEvent


class StillClock:
    """A clock that stands at noon of the first day of 2026, UTC."""

    def monotonic(self) -> float:
        """Tell no time."""
        return 0.0

    def wall(self) -> float:
        """Tell the moment, with a fraction of a second."""
        return 1767268800.9

    async def sleep(self, seconds: float) -> None:
        """Return at once."""
        await asyncio.sleep(0)


async def _maps(cluster: MemoryCluster, *names: str) -> list[str]:
    made = [await cluster.create(CONFIG_MAPS, "default", {"metadata": {"name": n}}) for n in names]
    return [body["metadata"]["resourceVersion"] for body in made]


async def _first(cluster: MemoryCluster, version: str) -> str:
    """The name of the first object that a watch from `version` on tells of."""
    events = cluster.watch(CONFIG_MAPS, version)
    assert (await anext(events)).type == "OPENED"
    return str((await anext(events)).object["metadata"]["name"])


async def test_clock_and_seed() -> None:
    """Equal seeds and clocks make equal objects, and times are the clock's in whole seconds."""
    bodies = []
    for seed in (1, 1, 2):
        cluster = MemoryCluster(MemoryStore(StillClock(), seed))
        body = {"metadata": {"generateName": "m-"}}
        bodies.append(await cluster.create(CONFIG_MAPS, "default", body))
    assert bodies[0] == bodies[1]
    assert bodies[0]["metadata"]["uid"] != bodies[2]["metadata"]["uid"]
    assert bodies[0]["metadata"]["creationTimestamp"] == "2026-01-01T12:00:00Z"


async def test_versions_count_every_write() -> None:
    """One counter numbers the writes to all kinds."""
    cluster = MemoryCluster()
    (first,) = await _maps(cluster, "a")
    (target,) = await submit(cluster, "default", gang("g", 1))
    assert int(target.version) == int(first) + 1


async def test_watch_left_behind_is_gone() -> None:
    """A watch that has not read what is forgotten is gone in the middle; one that has goes on."""
    cluster = MemoryCluster()
    version = str(cluster.store.version)
    await _maps(cluster, "a", "b", "c")
    slow = cluster.watch(CONFIG_MAPS, version)
    quick = cluster.watch(CONFIG_MAPS, version)
    assert (await anext(slow)).type == "OPENED"
    assert (await anext(slow)).object["metadata"]["name"] == "a"
    for _ in range(4):
        await anext(quick)
    cluster.store.compact()
    with pytest.raises(Gone):
        await anext(slow)
    await _maps(cluster, "d")
    assert (await anext(quick)).object["metadata"]["name"] == "d"


async def test_compaction_keeps_what_is_newer() -> None:
    """A watch from the compacted version has all that came after; from before it is gone."""
    cluster = MemoryCluster()
    versions = await _maps(cluster, "a", "b", "c")
    cluster.store.compact(versions[1])
    assert await _first(cluster, versions[1]) == "c"
    with pytest.raises(Gone):
        await anext(cluster.watch(CONFIG_MAPS, versions[0]))


async def test_history_is_bounded() -> None:
    """Of each kind only so many changes are kept."""
    cluster = MemoryCluster(MemoryStore(keep=2))
    versions = await _maps(cluster, "a", "b", "c", "d")
    assert await _first(cluster, versions[1]) == "c"
    with pytest.raises(Gone):
        await anext(cluster.watch(CONFIG_MAPS, versions[0]))


async def test_bookmark_and_end_on_demand() -> None:
    """All watches get a bookmark of the newest version of all kinds, and end when told."""
    cluster = MemoryCluster()
    version = str(cluster.store.version)

    async def read() -> list[WatchEvent]:
        async with aclosing(cluster.watch(PODS, version)) as events:
            return [event async for event in events]

    task = asyncio.create_task(read())
    await asyncio.sleep(0.01)
    (newest,) = await _maps(cluster, "a")
    cluster.store.bookmark()
    await asyncio.sleep(0.01)
    cluster.store.end_watches()
    events = await asyncio.wait_for(task, 5)
    seen = [(event.type, event.object["metadata"]["resourceVersion"]) for event in events]
    assert seen == [("OPENED", version), ("BOOKMARK", newest)]


async def test_kinds_that_the_cluster_lacks() -> None:
    """A kind that is not installed is not found."""
    cluster = MemoryCluster(MemoryStore(missing=[JOB_SETS]))
    with pytest.raises(NotFound):
        await cluster.list(JOB_SETS)
    with pytest.raises(NotFound):
        await anext(cluster.watch(JOB_SETS, "1"))


async def test_a_namespace_takes_what_is_in_it() -> None:
    """With a namespace go its objects, and no others."""
    cluster = MemoryCluster()
    await submit(cluster, "ml", gang("g", 2))
    await submit(cluster, "other", gang("h", 1))
    await cluster.delete(NAMESPACES, Target("", "ml"))
    left = [item["metadata"]["name"] for item in (await cluster.list(PODS)).items]
    assert left == ["h-0"]


async def test_clients_share_a_store() -> None:
    """What one client writes the other reads."""
    first = MemoryCluster()
    second = first.client("second")
    await _maps(first, "a")
    listing = await second.list(CONFIG_MAPS)
    assert [item["metadata"]["name"] for item in listing.items] == ["a"]


async def test_what_went_in_may_change() -> None:
    """Changing a body after it was sent changes nothing in the store."""
    cluster = MemoryCluster()
    body = {"metadata": {"name": "m", "labels": {"a": "b"}}}
    await cluster.create(CONFIG_MAPS, "default", body)
    body["metadata"]["labels"] = {"a": "c"}
    for _ in range(2):
        (item,) = (await cluster.list(CONFIG_MAPS)).items
        assert item["metadata"]["labels"] == {"a": "b"}
        item["metadata"]["labels"]["a"] = "d"


async def test_two_budgets_over_a_pod() -> None:
    """Two budgets over one pod are an error of the server's, as in the real one."""
    cluster = MemoryCluster()
    await add_nodes(cluster, nodes(1, 1, 1))
    (pod,) = await submit(cluster, "ml", gang("g", 1))
    await cluster.bind(Binding(pod, "n-0-0-0"))
    Kubelets(cluster.store).step()
    for name in ("a", "b"):
        body = {"metadata": {"name": name}, "spec": {"maxUnavailable": 1, "selector": {}}}
        await cluster.create(DISRUPTION_BUDGETS, "ml", body)
    with pytest.raises(Ambiguous) as caught:
        await cluster.evict(pod)
    assert caught.value.status == 500


async def test_broken_pods_do_not_use_up_a_budget() -> None:
    """A pod that is not ready may go while those that are suffice."""
    cluster = MemoryCluster()
    await add_nodes(cluster, nodes(1, 1, 2))
    pods = await submit(cluster, "ml", gang("g", 2))
    for pod in pods:
        await cluster.bind(Binding(pod, "n-0-0-0"))
    Kubelets(cluster.store).step()
    body = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}}
    await cluster.create(DISRUPTION_BUDGETS, "ml", body)
    status = {"conditions": [{"type": "Ready", "status": "False"}]}
    await cluster.patch(PODS, Target("ml", "g-1"), {"status": status}, "status")
    await cluster.evict(Target("ml", "g-1"))
    gone = await cluster.get(PODS, Target("ml", "g-1"))
    assert "deletionTimestamp" in gone["metadata"]
