"""Gangs that cannot start do not keep those behind them from being looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import node, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from tests.k8s_bridge.relocation.bench import TEAM, Bench


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """One leaf of four nodes, and a batch of five gangs."""
    one = Bench(1, 1)
    spec = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\nspec: {{batch: {{size: 5}}}}\n"
    config: Body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": spec}}
    await one.cluster.create(CONFIG_MAPS, "kube-system", config)
    yield one
    await one.stop()


def picky(name: str, pool: str, gpus: int = 1) -> Body:
    """A pod that wants nodes with the label pool=`pool`."""
    body = pod(name, gpus)
    body["spec"]["nodeSelector"] = {"pool": pool}
    return body


async def placed(bench: Bench) -> dict[str, str]:
    """Pod -> node."""
    pods = (await bench.cluster.list(PODS, TEAM)).items
    return {
        one["metadata"]["name"]: one["spec"]["nodeName"]
        for one in pods
        if one["spec"].get("nodeName")
    }


async def submitted(bench: Bench, *bodies: Body) -> None:
    """Submit pods, and give the scheduler five seconds."""
    await submit(bench.cluster, TEAM, list(bodies))
    await bench.clock.advance(5)


async def test_pods_that_fit_no_node_keep_nobody_from_starting(bench: Bench) -> None:
    """Twelve older pods name a label that no node has: the thirteenth starts all the same."""
    await bench.start()
    await submitted(bench, *[picky(f"wrong-{i:02}", "none") for i in range(12)])
    await submitted(bench, pod("good", 1))
    assert set(await placed(bench)) == {"good"}


async def test_a_full_pool_does_not_idle_another(bench: Bench) -> None:
    """Twelve older pods wait for a full pool; the pods behind them start in the other one.

    Of the twelve, one starts as soon as a pod of their pool ends, and one when a node comes.
    """
    bench.fabric = [_labelled(one, "a" if i else "b") for i, one in enumerate(bench.fabric)]
    await bench.start()
    await submitted(bench, *[picky(f"runs-{i}", "b", 8) for i in range(1)])
    await submitted(bench, *[picky(f"waits-{i:02}", "b", 8) for i in range(12)])
    await submitted(bench, *[picky(f"other-{i}", "a", 8) for i in range(3)])
    assert set(await placed(bench)) == {"runs-0", "other-0", "other-1", "other-2"}
    await bench.cluster.delete(PODS, Target(TEAM, "runs-0"))
    await bench.clock.advance(5)
    assert {"waits-00"} == {name for name in await placed(bench) if name.startswith("waits")}
    await bench.cluster.create(NODES, "", _labelled(node("n-new", "leaf-0-0", "spine-0"), "b"))
    await bench.clock.advance(5)
    assert len([name for name in await placed(bench) if name.startswith("waits")]) == 2


async def test_they_keep_their_reason(bench: Bench) -> None:
    """A gang that stands aside still says what it waits for, once, as one in the batch does."""
    scheduler = await bench.start()
    await submitted(bench, *[picky(f"wrong-{i:02}", "none") for i in range(12)])
    queue = scheduler.reporter.status().queue
    assert len(queue) == 12
    assert {one.reason.kind for one in queue} == {"NoMatchingNodes"}


def _labelled(body: Body, pool: str) -> dict[str, Any]:
    labels = {**body["metadata"].get("labels", {}), "pool": pool}
    return {**body, "metadata": {**body["metadata"], "labels": labels}}
