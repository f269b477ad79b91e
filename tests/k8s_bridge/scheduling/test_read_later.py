"""Thousands of pods come while the solver works: what was planned is looked at again."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_nodes, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.informers import Removed
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.scheduling.revalidate import revalidate
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.readers.live.pod_cache import MOST_PODS_AT_ONCE
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from tests.k8s_bridge.test_scheduler import TEAM
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
