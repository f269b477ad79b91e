"""What a plan says may no longer hold once the solver has answered."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_nodes, gang, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.k8s_bridge.informers import Removed
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.scheduling.revalidate import revalidate
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from tests.twins.virtual_clock import VirtualClock

KEY = GangKey("ml", "g")
SEAT = Resources(gpus=8)


@pytest.mark.parametrize(
    ("seats", "why"),
    [
        (["n-0-0-0", "n-0-0-1"], []),
        (["n-0-0-1", "n-0-0-0"], []),
        (["n-0-0-0"], ["places are kept for it on n-0-0-0 meanwhile"]),
        (["n-0-0-1", "n-0-0-2"], ["places are kept for it on n-0-0-1, n-0-0-2 meanwhile"]),
        (
            ["n-0-0-0", "n-0-0-1", "n-0-0-1"],
            ["places are kept for it on n-0-0-0, n-0-0-1 meanwhile"],
        ),
    ],
    ids=["these", "in another order", "of one member", "one elsewhere", "two on one"],
)
async def test_a_gang_starts_where_places_are_kept_for_it(seats: list[str], why: list[str]) -> None:
    """Planned for the first two nodes before a relocation kept these seats for it.

    It waits for them unless they are the same: pods may have been evicted to have them.
    """
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 4))
    await submit(cluster, "ml", gang("g", 2))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    solved = cache.reading().snapshot
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    kept = {KEY: [(node, SEAT) for node in seats]}
    found = revalidate(plan, solved, cache, Ledger(), kept)
    assert [one.why for one in found.late] == why
    assert len(found.requests) == (not why)


async def test_room_is_worked_out_where_pods_are_placed_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two of four nodes are looked at: pods elsewhere may hold thousands of names."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 4))
    await submit(cluster, "ml", gang("g", 2))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    looked: list[str] = []
    free_on = Snapshot.free_on

    def noted(snapshot: Snapshot, name: str) -> Resources:
        looked.append(name)
        return free_on(snapshot, name)

    monkeypatch.setattr(Snapshot, "free_on", noted)
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    solved = cache.reading().snapshot
    found = revalidate(plan, solved, cache, Ledger(), {})
    assert len(found.requests) == 1
    assert looked == ["n-0-0-0", "n-0-0-1"]
    assert "free" not in vars(cache.reading().snapshot)


async def test_a_place_that_is_kept_for_another_by_now_is_taken() -> None:
    """Planned for two nodes before a relocation kept one of them for another gang."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 4))
    await submit(cluster, "ml", gang("g", 2))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    kept = {GangKey("ml", "other"): [("n-0-0-1", SEAT)]}
    found = revalidate(plan, cache.reading().snapshot, cache, Ledger(), kept)
    assert [one.why for one in found.late] == ["others have taken room on node n-0-0-1 meanwhile"]


async def test_a_node_that_has_failed_meanwhile_takes_no_pod() -> None:
    """It is judged to be dead after the snapshot that was solved."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 4))
    await submit(cluster, "ml", gang("g", 2))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    solved = cache.reading().snapshot
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    cache.judge(frozenset({"n-0-0-1"}), {})
    found = revalidate(plan, solved, cache, Ledger(), {})
    assert [one.why for one in found.late] == ["node n-0-0-1 is no longer ready"]


async def test_a_device_map_on_another_node_is_nothing_to_a_plan() -> None:
    """All nodes say by then where their GPUs come from, and no longer once the map is gone."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    bare = nodes(1, 1, 1)[0]
    bare["metadata"]["name"], bare["status"]["allocatable"] = "cpu", {"cpu": "64", "pods": "110"}
    await add_nodes(cluster, [*nodes(1, 1, 4), bare])
    await submit(cluster, "ml", gang("g", 2))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    before = cache.reading().snapshot
    mapped = pod("m-0", 0, annotations={"gpu-scheduling-map": "0=cpu:0"})
    (target,) = await submit(cluster, "other", [mapped])
    cache.take(PODS, await cluster.get(PODS, target))
    beside = cache.reading().snapshot
    assert before.fabric.nodes["n-0-0-0"] != beside.fabric.nodes["n-0-0-0"]
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    assert revalidate(plan, before, cache, Ledger(), {}).late == ()
    cache.on_change(PODS, Removed(await cluster.get(PODS, target)))
    assert revalidate(plan, beside, cache, Ledger(), {}).late == ()


async def test_a_pod_that_another_has_bound_meanwhile_is_named() -> None:
    """Another scheduler binds the first of two members: what is told says which, and where."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 4))
    first, _ = await submit(cluster, "ml", gang("g", 2))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    solved = cache.reading().snapshot
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    await cluster.bind(Binding(first, "n-0-0-3", {}))
    cache.take(PODS, await cluster.get(PODS, first))
    found = revalidate(plan, solved, cache, Ledger(), {})
    assert [one.why for one in found.late] == ["pod ml/g-0 was bound to n-0-0-3 meanwhile"]
    assert not found.requests


@pytest.mark.parametrize("how", ["ended", "ending", "deleted"])
async def test_a_pod_that_is_gone_meanwhile_is_named(how: str) -> None:
    """The first of two members has ended, is about to, or is no more: neither is bound."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 4))
    first, _ = await submit(cluster, "ml", gang("g", 2))
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    solved = cache.reading().snapshot
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    body = await cluster.get(PODS, first)
    body["metadata"]["resourceVersion"] = "1000000"
    if how == "deleted":
        cache.on_change(PODS, Removed(body))
    elif how == "ended":
        cache.take(PODS, body | {"status": {"phase": "Failed"}})
    else:
        said = body["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}
        cache.take(PODS, body | {"metadata": said})
    found = revalidate(plan, solved, cache, Ledger(), {})
    assert [one.why for one in found.late] == ["pod ml/g-0 has gone meanwhile"]
    assert not found.requests


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"taints": [{"key": "for", "value": "others", "effect": "NoSchedule"}]}},
        {"spec": {"unschedulable": True}},
        {"metadata": {"labels": {"pool": "b"}}},
    ],
    ids=["tainted", "cordoned", "labelled"],
)
async def test_a_node_that_a_pod_may_no_longer_use_is_named(change: Body) -> None:
    """A place may have been kept for long, and the node be for others by now."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    bodies = nodes(1, 1, 4)
    for body in bodies:
        body["metadata"]["labels"]["pool"] = "a"
    await add_nodes(cluster, bodies)
    members = gang("g", 2)
    for body in members:
        body["spec"]["nodeSelector"] = {"pool": "a"}
    await submit(cluster, "ml", members)
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    placement = Placement(KEY, (("g-0", "n-0-0-0"), ("g-1", "n-0-0-1")))
    plan = Plan(PlanStatus.OPTIMAL, (placement,), ())
    assert revalidate(plan, cache.reading().snapshot, cache, Ledger(), {}).requests
    await cluster.patch(NODES, Target("", "n-0-0-1"), change)
    cache.take_all(NODES, await cluster.list(NODES))
    (late,) = revalidate(plan, cache.reading().snapshot, cache, Ledger(), {}).late
    assert late.why in (
        "node n-0-0-1 is no longer one that pod g-1 may use",
        "node n-0-0-1 is no longer ready",
    )
