"""Evictions."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Conflict, NotFound, Throttled
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, PODS
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from tests.k8s_bridge.cluster.contract.bench import Bench, pod_body, target, version_of

OTHER = "00000000-0000-4000-8000-000000000000"


async def _running(bench: Bench, name: str) -> Body:
    body = pod_body(name)
    body["metadata"]["labels"] = {"app": "train"}
    made = await bench.cluster.create(PODS, bench.namespace, body)
    await bench.cluster.bind(Binding(target(made), "n1"))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return await bench.cluster.patch(PODS, target(made), {"status": ready}, "status")


async def _budget(bench: Bench, allowed: int, **spec: object) -> None:
    body = {
        "metadata": {"name": "b"},
        "spec": {"selector": {"matchLabels": {"app": "train"}}, **spec},
    }
    made = await bench.cluster.create(DISRUPTION_BUDGETS, bench.namespace, body)
    await bench.allow(target(made), allowed)


async def _deleting(bench: Bench, body: Body) -> bool:
    found = await bench.cluster.get(PODS, target(body))
    return "deletionTimestamp" in found["metadata"]


async def test_evict(bench: Bench) -> None:
    """An evicted pod is deleted with its grace period, as by a deletion."""
    pod = await _running(bench, "p")
    await bench.cluster.evict(target(pod, uid=True))
    assert await _deleting(bench, pod)
    await bench.finish(target(pod))
    with pytest.raises(NotFound):
        await bench.cluster.get(PODS, target(pod))


async def test_at_once(bench: Bench) -> None:
    """A pod that is evicted at once is gone though no kubelet ends it; a dry run takes none."""
    pod = await _running(bench, "p")
    await bench.cluster.evict(target(pod, uid=True), dry_run=True, at_once=True)
    assert not await _deleting(bench, pod)
    await bench.cluster.evict(target(pod, uid=True), at_once=True)
    with pytest.raises(NotFound):
        await bench.cluster.get(PODS, target(pod))


async def test_another_pod(bench: Bench) -> None:
    """An eviction of a pod that has been made again conflicts and leaves it alone."""
    pod = await _running(bench, "p")
    with pytest.raises(Conflict):
        await bench.cluster.evict(Target(bench.namespace, "p", OTHER))
    assert not await _deleting(bench, pod)


async def test_a_dry_run_leaves_the_pod_alone(bench: Bench) -> None:
    """A dry run says that the pod may go, and it stays; of another pod it says so as well."""
    pod = await _running(bench, "p")
    await bench.cluster.evict(target(pod, uid=True), dry_run=True)
    with pytest.raises(Conflict):
        await bench.cluster.evict(Target(bench.namespace, "p", OTHER), dry_run=True)
    with pytest.raises(NotFound):
        await bench.cluster.evict(Target(bench.namespace, "nobody"), dry_run=True)
    assert not await _deleting(bench, pod)


async def test_a_dry_run_meets_budgets(bench: Bench) -> None:
    """A dry run is forbidden as the eviction would be, and uses up nothing of what is allowed."""
    pods = [await _running(bench, "p"), await _running(bench, "q")]
    await _budget(bench, 1, maxUnavailable=1)
    for pod in pods:
        await bench.cluster.evict(target(pod, uid=True), dry_run=True)
    await bench.cluster.evict(target(pods[0], uid=True))
    with pytest.raises(Throttled):
        await bench.cluster.evict(target(pods[1], uid=True), dry_run=True)


async def test_version_does_not_matter(bench: Bench) -> None:
    """An eviction goes by UID: a pod whose status has changed since is the same pod."""
    pod = await _running(bench, "p")
    patch = {"metadata": {"annotations": {"a": "b"}}}
    changed = await bench.cluster.patch(PODS, target(pod), patch)
    assert version_of(changed) != version_of(pod)
    await bench.cluster.evict(target(pod, uid=True, version=True))
    assert await _deleting(bench, pod)


async def test_absent_pod(bench: Bench) -> None:
    """A pod that does not exist is not found."""
    with pytest.raises(NotFound):
        await bench.cluster.evict(Target(bench.namespace, "nobody"))


@pytest.mark.parametrize(
    "spec",
    [
        {"minAvailable": 2},
        {"minAvailable": "51%"},
        {"maxUnavailable": 0},
        {"maxUnavailable": "0%"},
    ],
    ids=str,
)
async def test_budget_forbids(bench: Bench, spec: dict[str, object]) -> None:
    """Of two pods none goes where the budget wants both."""
    pod, _ = await _running(bench, "p"), await _running(bench, "q")
    await _budget(bench, 0, **spec)
    with pytest.raises(Throttled) as caught:
        await bench.cluster.evict(target(pod, uid=True))
    assert caught.value.status == 429
    assert not await _deleting(bench, pod)


@pytest.mark.parametrize(
    "spec",
    [{"minAvailable": 1}, {"minAvailable": "50%"}, {"maxUnavailable": 1}, {"maxUnavailable": "1%"}],
    ids=str,
)
async def test_budget_allows_one(bench: Bench, spec: dict[str, object]) -> None:
    """Of two pods one goes where the budget wants one, and then the other stays."""
    pods = [await _running(bench, "p"), await _running(bench, "q")]
    await _budget(bench, 1, **spec)
    await bench.cluster.evict(target(pods[0], uid=True))
    assert await _deleting(bench, pods[0])
    with pytest.raises(Throttled):
        await bench.cluster.evict(target(pods[1], uid=True))
    assert not await _deleting(bench, pods[1])


async def test_budget_of_others(bench: Bench) -> None:
    """A budget whose selector does not take the pod does not protect it."""
    pod = await _running(bench, "p")
    body = {
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "other"}}},
    }
    await bench.cluster.create(DISRUPTION_BUDGETS, bench.namespace, body)
    await bench.cluster.evict(target(pod, uid=True))
    assert await _deleting(bench, pod)


async def test_waiting_pods_need_no_budget(bench: Bench) -> None:
    """A pod that has not started is evicted whatever the budget says."""
    body = pod_body("p")
    body["metadata"]["labels"] = {"app": "train"}
    made = await bench.cluster.create(PODS, bench.namespace, body)
    await _budget(bench, 0, minAvailable=1)
    await bench.cluster.evict(target(made, uid=True))
    with pytest.raises(NotFound):
        await bench.cluster.get(PODS, target(made))
