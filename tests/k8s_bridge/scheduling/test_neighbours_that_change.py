"""Gangs that mind pods of others, which come and go faster than the solver answers."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench

TERM = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}
PREFERRED = {
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]
}


def web(number: int, node: str) -> dict[str, Any]:
    """A pod of others, on a node already."""
    body = pod(f"web-{number}", 0)
    body["metadata"]["labels"] = {"app": "web"}
    body["spec"] |= {"nodeName": node, "schedulerName": "default-scheduler"}
    return body


def minding(name: str, gpus: int, terms: dict[str, Any]) -> dict[str, Any]:
    """A pod that keeps away from those."""
    body = pod(name, gpus)
    body["spec"]["affinity"] = {"podAntiAffinity": terms}
    return body


def solving_takes(bench: Bench, seconds: float) -> None:
    """Let each solve take so long."""
    plan = bench.solved.plan

    async def slowly(snapshot: Snapshot) -> Plan:
        await bench.clock.sleep(seconds)
        return await plan(snapshot)

    bench.solved.plan = slowly  # type: ignore[method-assign]


async def seconds_until(bench: Bench, name: str, each: float, most: int) -> float | None:
    """When that pod is bound while a pod of others goes and the next comes, None for never."""
    nodes = [one["metadata"]["name"] for one in bench.fabric]
    await bench.cluster.create(PODS, TEAM, web(0, nodes[0]))
    for number in range(1, most):
        await bench.cluster.create(PODS, TEAM, web(number, nodes[number % 3]))
        await bench.cluster.delete(PODS, Target(TEAM, f"web-{number - 1}"))
        await bench.clock.advance(each)
        body = await bench.cluster.get(PODS, Target(TEAM, name))
        if body["spec"].get("nodeName"):
            return number * each
    return None


@pytest.mark.parametrize("terms", [REQUIRED, PREFERRED], ids=["required", "preferred"])
async def test_it_starts_on_nodes_that_still_do(terms: dict[str, Any]) -> None:
    """A solve takes a second, and there is another pod every half: five of eight nodes never do."""
    bench = Bench(1, 2)
    solving_takes(bench, 1.0)
    await bench.start()
    await bench.clock.advance(2)
    await submit(bench.cluster, TEAM, [minding("picky", 1, terms)])
    assert await seconds_until(bench, "picky", 0.5, 30) is not None
    await bench.stop()


async def test_those_that_only_prefer_stay_aside() -> None:
    """Forty pods want a node that is taken, at the head of a queue with batches of five."""
    bench = Bench(1, 2)
    solving_takes(bench, 0.5)
    await bench.config("{batch: {size: 5}}")
    await bench.start()
    taken = {"kubernetes.io/hostname": bench.fabric[7]["metadata"]["name"]}
    holder, first = pod("holder", 1), [minding(f"first-{i:02}", 8, PREFERRED) for i in range(40)]
    for body in (holder, *first):
        body["spec"]["nodeSelector"] = taken
    await submit(bench.cluster, TEAM, [holder])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, first)
    await bench.clock.advance(1)
    await submit(bench.cluster, TEAM, [pod("good", 1)])
    assert await seconds_until(bench, "good", 1.0, 40) is not None
    await bench.stop()


async def test_a_node_that_does_no_more_is_not_taken() -> None:
    """One node of four is free, and one that it keeps away from comes while it is solved."""
    bench = Bench(1, 1)
    solving_takes(bench, 1.0)
    await bench.start()
    await submit(bench.cluster, "other", [pod(f"full-{number}", 8) for number in range(3)])
    await bench.clock.advance(4)
    others = (await bench.cluster.list(PODS, "other")).items
    free = {one["metadata"]["name"] for one in bench.fabric} - {
        one["spec"]["nodeName"] for one in others
    }
    await submit(bench.cluster, TEAM, [minding("picky", 1, REQUIRED)])
    await bench.clock.advance(0.5)
    await bench.cluster.create(PODS, TEAM, web(0, free.pop()))
    await bench.clock.advance(10)
    assert "nodeName" not in (await bench.cluster.get(PODS, Target(TEAM, "picky")))["spec"]
    await bench.stop()
