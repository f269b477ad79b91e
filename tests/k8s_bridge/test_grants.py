"""What pods say of GPUs by annotation, on the whole scheduler; said later, it changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import node, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.devices.held_devices import GPUS
from tests.k8s_bridge.test_scheduler import TEAM, Bench

COUNT = "topology.scheduler/gpu-count"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """One node of 8 GPUs."""
    bench = Bench()
    for body in nodes(1, 1, 1):
        await bench.cluster.create(NODES, "", body)
    yield bench
    await bench.stop()


async def bound(bench: Bench) -> dict[str, str]:
    """The GPUs that were granted to every pod that has a node."""
    return {
        name: body["metadata"]["annotations"][GPUS]
        for name, body in (await bench.pods()).items()
        if body["spec"].get("nodeName")
    }


async def say(bench: Bench, name: str, count: str) -> None:
    """Let a tenant annotate its pod."""
    patch = {"metadata": {"annotations": {COUNT: count}}}
    await bench.cluster.patch(PODS, Target(TEAM, name), patch)


@pytest.mark.parametrize("leader", ["the same", "another"])
async def test_eight_stay_eight(bench: Bench, leader: str) -> None:
    """The node is full: a pod that runs there says 1, and an honest one waits all the same."""
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("held", 0, annotations={COUNT: "8"})])
    await bench.clock.advance(3)
    assert await bound(bench) == {"held": "8"}
    await say(bench, "held", "1")
    if leader == "another":
        await bench.start("b")
        bench.tasks[1].cancel()
        await bench.clock.advance(40)
    await submit(bench.cluster, TEAM, [pod("honest", 4)])
    await bench.clock.advance(60)
    assert await bound(bench) == {"held": "8"}


async def test_none_stay_none(bench: Bench) -> None:
    """A pod without GPUs runs and says a million: an honest one gets all eight."""
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("idle", 0)])
    await bench.clock.advance(3)
    await say(bench, "idle", "1000000")
    await submit(bench.cluster, TEAM, [pod("honest", 8)])
    await bench.clock.advance(10)
    assert await bound(bench) == {"idle": "0", "honest": "8"}


async def test_a_quota_counts_what_annotations_ask_for(bench: Bench) -> None:
    """By the config; a quota of Kubernetes sees no GPU here. 4 and 5 are more than 8."""
    said = f"spec:\n  namespaces: {{{TEAM}: {{gpuQuota: 8}}}}\n"
    text = f"apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n{said}"
    config = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": text}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", config)
    await bench.cluster.create(NODES, "", node("another", "leaf-0-0", "spine-0"))
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("four", 0, annotations={COUNT: "4"})])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [pod("five", 0, annotations={COUNT: "5"})])
    await bench.clock.advance(10)
    assert await bound(bench) == {"four": "4"}
