"""Thousands of pods come while the solver works: what was planned is looked at again."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import JOBS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, add_nodes, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.informers import Removed
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.scheduling.revalidate import revalidate
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.readers.live import read_allowance
from fourleaf.model.readers.live.pod_cache import MOST_PODS_AT_ONCE
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from tests.k8s_bridge.test_scheduler import TEAM
from tests.twins.jobs import INDEX, job
from tests.twins.virtual_clock import VirtualClock


def larger(body: Body) -> None:
    """Let it ask for all eight GPUs, of which four are free."""
    body["spec"] |= pod("w", 8)["spec"]


def gated(body: Body) -> None:
    """Let it hold itself back."""
    body["spec"]["schedulingGates"] = [{"name": "quota"}]


def of_a_gang(body: Body) -> None:
    """Let it be one of four, which are to start together."""
    body["metadata"]["annotations"] = {GANG: "big", GANG_SIZE: "4"}


@pytest.mark.parametrize("others", [0, 2 * MOST_PODS_AT_ONCE])
@pytest.mark.parametrize("change", [larger, gated, of_a_gang])
async def test_who_is_another_now_is_not_bound(change: Any, others: int) -> None:
    """The pod is made anew, or changes, behind others that are read first: it is planned again."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 2))
    there = pod("there", 4)
    there["spec"]["nodeName"] = "n-0-0-0"
    old, _ = await submit(cluster, TEAM, [pod("w", 1), there])
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    solved = cache.reading().snapshot
    (gang,) = solved.gangs
    plan = Plan(PlanStatus.OPTIMAL, (Placement(gang.key, (("w", "n-0-0-0"),)),), ())
    assert revalidate(plan, solved, cache, Ledger()).requests
    was = await cluster.get(PODS, old)
    for number in range(others):
        body = copy.deepcopy(was)
        name = {"name": f"a-{number:04}", "uid": f"a-{number}"}
        body["metadata"] |= name | {"resourceVersion": str(10_000 + number)}
        cache.take(PODS, body)
    new = copy.deepcopy(was)
    change(new)
    if change is not of_a_gang:
        gone = copy.deepcopy(was)
        gone["metadata"]["resourceVersion"] = "20000"
        cache.on_change(PODS, Removed(gone))
        new["metadata"]["uid"] = "anew"
    new["metadata"]["resourceVersion"] = "20001"
    cache.take(PODS, new)
    assert not revalidate(plan, solved, cache, Ledger()).requests


def cores(body: Body, number: int) -> Body:
    """The same pod, which has so many cores."""
    new = copy.deepcopy(body)
    new["spec"]["containers"][0]["resources"] = {"requests": {"cpu": str(number)}}
    return new


@pytest.mark.parametrize("others", [0, 2 * MOST_PODS_AT_ONCE])
async def test_room_that_a_pod_has_been_given_meanwhile_is_taken(others: int) -> None:
    """One that runs grows from 4 to 60 of 64 cores in place, behind others that are read first."""
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    bodies = nodes(1, 1, 2)
    for body in bodies:
        body["status"]["allocatable"]["cpu"] = "64"
    await add_nodes(cluster, bodies)
    there = cores(pod("there", 0), 4)
    there["spec"]["nodeName"] = "n-0-0-0"
    old, runs = await submit(cluster, TEAM, [cores(pod("w", 0), 32), there])
    for kind in (NODES, PODS):
        cache.take_all(kind, await cluster.list(kind))
    solved = cache.reading().snapshot
    (gang,) = solved.gangs
    plan = Plan(PlanStatus.OPTIMAL, (Placement(gang.key, (("w", "n-0-0-0"),)),), ())
    assert revalidate(plan, solved, cache, Ledger()).requests
    for number in range(others):
        body = copy.deepcopy(await cluster.get(PODS, old))
        name = {"name": f"a-{number:04}", "uid": f"a-{number}"}
        body["metadata"] |= name | {"resourceVersion": str(10_000 + number)}
        cache.take(PODS, body)
    grown = cores(await cluster.get(PODS, runs), 60)
    grown["metadata"]["resourceVersion"] = "20001"
    cache.take(PODS, grown)
    assert not revalidate(plan, solved, cache, Ledger()).requests


@pytest.mark.parametrize("allowed", [10_000.0, 20.0])
async def test_an_owner_that_changes_meanwhile_is_read(
    allowed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Job of one is to be one of four by now, also where its namespace may have no more read."""
    monkeypatch.setattr(read_allowance, "MOST_READS", allowed)
    monkeypatch.setattr(read_allowance, "READS_A_SECOND", 1.0)
    cluster, cache = MemoryCluster(), ClusterCache(VirtualClock())
    await add_nodes(cluster, nodes(1, 1, 2))
    await add_namespace(cluster, TEAM)
    made = await cluster.create(JOBS, TEAM, job("a", 1))
    of = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": made["metadata"]["uid"]}
    member = pod("a-0", 8, ownerReferences=[of | {"controller": True}])
    member["metadata"]["labels"] = {"batch.kubernetes.io/job-name": "a", INDEX: "0"}
    some = [pod(f"x-{number}", 0) for number in range(30)]
    await submit(cluster, TEAM, [member, *some])
    for kind in (NODES, JOBS, PODS):
        cache.take_all(kind, copy.deepcopy(await cluster.list(kind)))
    cache.reading()
    for number in range(30):
        target = Target(TEAM, f"x-{number}")
        await cluster.patch(PODS, target, {"metadata": {"labels": {"new": "label"}}})
    cache.take_all(PODS, await cluster.list(PODS))
    solved = cache.reading().snapshot
    key = GangKey(TEAM, "a")
    plan = Plan(PlanStatus.OPTIMAL, (Placement(key, (("a-0", "n-0-0-0"),)),), ())
    assert revalidate(plan, solved, cache, Ledger()).requests
    await cluster.patch(JOBS, Target(TEAM, "a"), {"spec": {"parallelism": 4, "completions": 4}})
    cache.take_all(JOBS, await cluster.list(JOBS))
    assert not revalidate(plan, solved, cache, Ledger()).requests
