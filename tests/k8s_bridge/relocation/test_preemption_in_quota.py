"""Gangs that wait for the quota of their namespace take it from lower ones of it, from no others.

One spine of 2 leaves of 4 nodes of 8 GPUs, of which namespace `ml` may use two nodes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, JOBS, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A scheduler that leads, with the quota."""
    bench = Bench(1, 2)
    await bench.config("{namespaces: {ml: {gpuQuota: 16}}}")
    await bench.classes(lowest=-5, low=0, high=1000, meek=1000)
    await bench.start()
    yield bench
    await bench.stop()


async def uids(bench: Bench, *names: str, namespace: str = TEAM) -> set[str]:
    """The UIDs of the live pods of Jobs that are bound."""
    return {
        one["metadata"]["uid"]
        for name in names
        for one in await bench.pods(name, namespace=namespace)
        if one["spec"].get("nodeName")
    }


async def test_one_of_its_own_namespace_makes_way_though_there_is_room(bench: Bench) -> None:
    """Five nodes are free. Of two lower gangs of `ml` one goes, and not the lowest, of `other`."""
    await bench.submit("theirs", 1, priority="lowest", namespace="other")
    for name in ("a", "b"):
        await bench.submit(name, 1, priority="low")
    others = await uids(bench, "theirs", namespace="other")
    before = await uids(bench, "a", "b")
    await bench.submit("top", 1, priority="high")
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 1
    assert len(before & await uids(bench, "a", "b")) == 1
    assert await uids(bench, "theirs", namespace="other") == others


async def test_the_quota_is_kept_while_victims_end(bench: Bench) -> None:
    """A node is free for `top` at once, and the pod that goes for its quota takes 30 s to end."""
    for name in ("a", "b"):
        await bench.submit(name, 1, priority="low")
    slow = {next(iter((await bench.places(name)).values())) for name in ("a", "b")}
    bench.kubelets.silent |= slow
    free = next(f"n-0-1-{number}" for number in range(4) if f"n-0-1-{number}" not in slow)
    body = job("top", 1)
    wants = {"priorityClassName": "high", "nodeSelector": {"kubernetes.io/hostname": free}}
    body["spec"]["template"]["spec"] |= wants
    await bench.cluster.create(JOBS, TEAM, body)
    while not (await bench.dying("a") or await bench.dying("b")):
        await bench.clock.advance(1)
    await bench.clock.advance(25)
    assert not await bench.places("top")
    bench.kubelets.silent -= slow
    await bench.clock.advance(15)
    assert await bench.places("top")


async def test_none_of_another_namespace_goes_for_a_quota(bench: Bench) -> None:
    """The fabric is full. `a` goes, which alone leaves quota and a node.

    Two pods of three GPUs and the lowest priority hold as much of the quota as is short, but a node
    would be free only if one of `other`, as low, went as well.
    """
    pinned = []
    for leaf in range(2):
        body = pod(f"theirs-{leaf}", 5)
        body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": f"n-0-{leaf}-0"}
        pinned.append(body | {"spec": body["spec"] | {"priorityClassName": "lowest"}})
    await submit(bench.cluster, "other", pinned)
    await bench.clock.advance(3)
    await bench.submit("a", 1, priority="low")
    names = [f"one-{number}" for number in range(5)]
    for name in names:
        await bench.submit(name, 1, priority="lowest", namespace="other")
    for name in ("half-1", "half-2"):
        await bench.submit(name, 1, 3, priority="lowest")
    halves, before = await uids(bench, "half-1", "half-2"), await others(bench)
    await bench.submit("top", 1, priority="high")
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 1
    assert await others(bench) == before
    assert len(before) == 7
    assert await uids(bench, "half-1", "half-2") == halves


async def others(bench: Bench) -> dict[str, str]:
    """UID -> node of the pods of the other namespace that are not to end."""
    return {
        one["metadata"]["uid"]: one["spec"]["nodeName"]
        for one in (await bench.cluster.list(PODS, "other")).items
        if "deletionTimestamp" not in one["metadata"] and one["spec"].get("nodeName")
    }


@pytest.mark.parametrize(
    ("size", "priority", "theirs"),
    [(3, "high", "low"), (1, "low", "low"), (1, "meek", "low"), (1, "high", "high")],
)
async def test_none_goes_for_who_could_not_start_or_may_not(
    bench: Bench, size: int, priority: str, theirs: str
) -> None:
    """Three nodes are more than the quota; equals and those that preempt none wait."""
    for name in ("a", "b"):
        await bench.submit(name, 1, priority=theirs)
    before = await uids(bench, "a", "b")
    await bench.submit("top", size, priority=priority)
    await bench.clock.advance(60)
    assert await uids(bench, "a", "b") == before
    assert bench.solved.preemptions == []


async def test_a_disruption_budget_keeps_its_pods(bench: Bench) -> None:
    """`a` may not go: `b` does. Where neither may, both stay, and the gang is told."""
    for name in ("a", "b"):
        await bench.submit(name, 1, priority="low")
    names = {"key": "batch.kubernetes.io/job-name", "operator": "In", "values": ["a"]}
    spec: dict[str, Any] = {"maxUnavailable": 0, "selector": {"matchExpressions": [names]}}
    await bench.cluster.create(DISRUPTION_BUDGETS, TEAM, {"metadata": {"name": "a"}, "spec": spec})
    kept = await uids(bench, "a")
    await bench.submit("top", 1, priority="high")
    await bench.clock.advance(15)
    assert len(await bench.places("top")) == 1
    assert await uids(bench, "a") == kept
    await bench.submit("next", 1, priority="high")
    await bench.clock.advance(60)
    assert await uids(bench, "a") == kept
    assert "PreemptionForbidden" in await bench.reasons()
