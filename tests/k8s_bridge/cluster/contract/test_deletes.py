"""Deletions."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Conflict, NotFound
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from tests.k8s_bridge.cluster.contract.bench import Bench, make_pod, target, version_of

OTHER = "00000000-0000-4000-8000-000000000000"


async def _lease(bench: Bench, *finalizers: str) -> Body:
    body = {"metadata": {"name": "gang", "finalizers": list(finalizers)}}
    return await bench.cluster.create(LEASES, bench.namespace, body)


async def _gone(bench: Bench, body: Body) -> bool:
    try:
        await bench.cluster.get(PODS if "containers" in body["spec"] else LEASES, target(body))
    except NotFound:
        return True
    return False


async def test_delete(bench: Bench) -> None:
    """A deleted object is gone, and to delete it again finds nothing."""
    lease = await _lease(bench)
    await bench.cluster.delete(LEASES, target(lease))
    with pytest.raises(NotFound):
        await bench.cluster.delete(LEASES, target(lease))


async def test_delete_under_preconditions(bench: Bench) -> None:
    """A deletion conflicts where UID or version are others, and takes where they hold."""
    lease = await _lease(bench)
    patch = {"metadata": {"annotations": {"phase": "Committed"}}}
    committed = await bench.cluster.patch(LEASES, target(lease), patch)
    with pytest.raises(Conflict):
        await bench.cluster.delete(LEASES, target(lease, version=True))
    with pytest.raises(Conflict):
        await bench.cluster.delete(LEASES, Target(bench.namespace, "gang", OTHER))
    await bench.cluster.delete(LEASES, target(committed, uid=True, version=True))
    with pytest.raises(NotFound):
        await bench.cluster.get(LEASES, target(lease))


async def test_unbound_pods_go_at_once(bench: Bench) -> None:
    """A pod that no kubelet runs is gone with its deletion."""
    made = await make_pod(bench)
    await bench.cluster.delete(PODS, target(made, uid=True))
    assert await _gone(bench, made)


async def test_bound_pods_go_when_they_have_stopped(bench: Bench) -> None:
    """A bound pod is marked as deleting, with its grace period, until its kubelet is done."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(target(made), "n1"))
    await bench.cluster.delete(PODS, target(made))
    deleting = await bench.cluster.get(PODS, target(made))
    assert deleting["metadata"]["deletionTimestamp"]
    assert deleting["metadata"]["deletionGracePeriodSeconds"] == 30
    assert deleting["spec"]["nodeName"] == "n1"
    await bench.finish(target(made))
    assert await _gone(bench, made)


async def test_deleting_twice_is_one_deletion(bench: Bench) -> None:
    """A second deletion of a pod that is being deleted changes nothing."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(target(made), "n1"))
    await bench.cluster.delete(PODS, target(made))
    first = await bench.cluster.get(PODS, target(made))
    await bench.cluster.delete(PODS, target(made))
    second = await bench.cluster.get(PODS, target(made))
    assert version_of(second) == version_of(first)


async def test_ended_pods_go_at_once(bench: Bench) -> None:
    """A bound pod that has ended needs no grace."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(target(made), "n1"))
    await bench.cluster.patch(PODS, target(made), {"status": {"phase": "Succeeded"}}, "status")
    await bench.cluster.delete(PODS, target(made))
    assert await _gone(bench, made)


async def test_finalizers_hold_an_object(bench: Bench) -> None:
    """An object with a finalizer is marked as deleting and goes with the finalizer."""
    lease = await _lease(bench, "fourleaf/hold")
    await bench.cluster.delete(LEASES, target(lease))
    deleting = await bench.cluster.get(LEASES, target(lease))
    assert deleting["metadata"]["deletionTimestamp"]
    await bench.cluster.patch(LEASES, target(lease), {"metadata": {"finalizers": None}})
    with pytest.raises(NotFound):
        await bench.cluster.get(LEASES, target(lease))


async def test_a_new_object_of_the_same_name_is_another(bench: Bench) -> None:
    """What is made again under a name has a new UID, and the old one does not delete it."""
    first = await make_pod(bench)
    await bench.cluster.delete(PODS, target(first))
    second = await make_pod(bench)
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    with pytest.raises(Conflict):
        await bench.cluster.delete(PODS, target(first, uid=True))
    assert not await _gone(bench, second)
