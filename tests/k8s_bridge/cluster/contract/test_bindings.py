"""Bindings: what a Binding honours is what keeps a pod from being placed twice."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Conflict, NotFound
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from tests.k8s_bridge.cluster.contract.bench import (
    Bench,
    make_pod,
    pod_body,
    target,
    version_of,
    watched,
)

OTHER = "00000000-0000-4000-8000-000000000000"
DRY = pytest.mark.parametrize("dry_run", [False, True], ids=["wet", "dry"])


def _exactly(body: Body) -> Target:
    return target(body, uid=True, version=True)


async def _node_of(bench: Bench, body: Body) -> str:
    found = await bench.cluster.get(PODS, target(body))
    return str(found["spec"].get("nodeName", ""))


async def test_bind(bench: Bench) -> None:
    """A binding sets the node, merges annotations and says so and since when, all in one write."""
    body = pod_body("p")
    body["metadata"]["annotations"] = {"keep": "1", "change": "1"}
    made = await bench.cluster.create(PODS, bench.namespace, body)
    said = {"change": "2", "alloc.gpu.scheduling/devices": "0,1"}
    await bench.cluster.bind(Binding(_exactly(made), "n1", said))
    found = await bench.cluster.get(PODS, target(made))
    assert found["spec"]["nodeName"] == "n1"
    assert found["metadata"]["annotations"] == {"keep": "1", **said}
    conditions = {c["type"]: c for c in found["status"]["conditions"]}
    assert conditions["PodScheduled"]["status"] == "True"
    assert conditions["PodScheduled"]["lastTransitionTime"] >= made["metadata"]["creationTimestamp"]
    listing = await bench.cluster.list(PODS, bench.namespace)
    assert [version_of(item) for item in listing.items] == [version_of(found)]


async def test_one_write_one_event(bench: Bench) -> None:
    """Whoever watches sees node and annotations of a binding come together."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(target(made), "n1", {"a": "b"}))
    (event,) = await watched(bench, PODS, version_of(made), 1)
    assert event.type == "MODIFIED"
    assert event.object["spec"]["nodeName"] == "n1"
    assert event.object["metadata"]["annotations"] == {"a": "b"}


@DRY
async def test_other_uid(bench: Bench, dry_run: bool) -> None:
    """A binding for another pod of the same name conflicts."""
    made = await make_pod(bench)
    wrong = Target(bench.namespace, "p", uid=OTHER)
    with pytest.raises(Conflict):
        await bench.cluster.bind(Binding(wrong, "n1"), dry_run)
    assert await _node_of(bench, made) == ""


@DRY
async def test_other_version(bench: Bench, dry_run: bool) -> None:
    """A binding for a version that a fence has passed conflicts; for the new one it takes."""
    made = await make_pod(bench)
    fence = {"metadata": {"annotations": {"alloc.gpu.scheduling/epoch": "2"}}}
    fenced = await bench.cluster.patch(PODS, target(made), fence)
    with pytest.raises(Conflict):
        await bench.cluster.bind(Binding(_exactly(made), "n1"), dry_run)
    await bench.cluster.bind(Binding(_exactly(fenced), "n1"), dry_run)
    assert await _node_of(bench, made) == ("" if dry_run else "n1")


async def test_dry_run_does_nothing(bench: Bench) -> None:
    """A dry run passes where a binding would, and leaves the pod as it was."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(_exactly(made), "n1", {"a": "b"}), dry_run=True)
    found = await bench.cluster.get(PODS, target(made))
    assert version_of(found) == version_of(made)
    assert "nodeName" not in found["spec"]


@DRY
@pytest.mark.parametrize("node", ["n1", "n2"])
async def test_bound_pods_stay(bench: Bench, node: str, dry_run: bool) -> None:
    """A pod is bound once: again to the same node or to another conflicts."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(target(made), "n1"))
    with pytest.raises(Conflict):
        await bench.cluster.bind(Binding(target(made), node), dry_run)
    assert await _node_of(bench, made) == "n1"


async def test_the_node_need_not_exist(bench: Bench) -> None:
    """Nobody checks that the node of a binding exists."""
    made = await make_pod(bench)
    await bench.cluster.bind(Binding(_exactly(made), "no-such-node"))
    assert await _node_of(bench, made) == "no-such-node"


@DRY
async def test_gated_pods(bench: Bench, dry_run: bool) -> None:
    """A pod with scheduling gates is not bound."""
    made = await make_pod(bench, schedulingGates=[{"name": "x/y"}])
    with pytest.raises(Conflict):
        await bench.cluster.bind(Binding(_exactly(made), "n1"), dry_run)


@DRY
async def test_deleting_pods(bench: Bench, dry_run: bool) -> None:
    """A pod that is being deleted is not bound."""
    body = pod_body("p")
    body["metadata"]["finalizers"] = ["fourleaf/hold"]
    made = await bench.cluster.create(PODS, bench.namespace, body)
    await bench.cluster.delete(PODS, target(made))
    with pytest.raises(Conflict):
        await bench.cluster.bind(Binding(target(made, uid=True), "n1"), dry_run)


@DRY
async def test_absent_pods(bench: Bench, dry_run: bool) -> None:
    """A pod that has gone is not found."""
    made = await make_pod(bench)
    await bench.cluster.delete(PODS, target(made))
    with pytest.raises(NotFound):
        await bench.cluster.bind(Binding(_exactly(made), "n1"), dry_run)


async def test_a_pod_made_again(bench: Bench) -> None:
    """A binding for a pod that has gone does not take the next of its name."""
    first = await make_pod(bench)
    await bench.cluster.delete(PODS, target(first))
    second = await make_pod(bench)
    with pytest.raises(Conflict):
        await bench.cluster.bind(Binding(target(first, uid=True), "n1"))
    assert await _node_of(bench, second) == ""
