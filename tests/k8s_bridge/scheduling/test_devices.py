"""Devices on the whole scheduler, on the twin: claims, maps, inventories, and who gets what."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    GPU_CLAIMS,
    GPU_NODE_STATUSES,
    NODES,
    PODS,
)
from fourleaf.k8s_bridge.cluster.memory.actors import nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from fourleaf.model.devices.held_devices import DEVICES
from tests.k8s_bridge.test_scheduler import TEAM, Bench

CLAIM = "gpu.scheduling/claim"
MAP = "gpu-scheduling-map"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A leaf of two nodes of 8 GPUs."""
    bench = Bench()
    for body in nodes(1, 1, 2):
        await bench.cluster.create(NODES, "", body)
    yield bench
    await bench.stop()


async def names(bench: Bench) -> list[str]:
    """The nodes, by name."""
    return sorted(body["metadata"]["name"] for body in (await bench.cluster.list(NODES)).items)


def claim(name: str, **spec: Any) -> Body:
    """A claim of the team."""
    return {"metadata": {"name": name, "namespace": TEAM}, "spec": spec}


def inventory(name: str, *islands: range, **status: Any) -> Body:
    """Devices 0 to 7 of a node, linked inside of each island."""
    links = [
        {"a": a, "b": b, "kind": "NVLink", "bandwidthGBps": 450}
        for island in islands
        for a in island
        for b in island
        if a < b
    ]
    gpus = [{"index": i, "uuid": f"GPU-{name}-{i}", "product": "H100"} for i in range(8)]
    return {"metadata": {"name": name}, "status": {"gpus": gpus, "links": links} | status}


async def report(bench: Bench, body: Body) -> None:
    """Publish an inventory, as an agent does: the object, then its status."""
    await bench.cluster.create(GPU_NODE_STATUSES, "", {"metadata": body["metadata"]})
    target = Target("", body["metadata"]["name"])
    await bench.cluster.patch(GPU_NODE_STATUSES, target, {"status": body["status"]}, "status")


async def devices(bench: Bench) -> dict[str, tuple[str, str]]:
    """Node and devices of every bound pod."""
    return {
        name: (body["spec"]["nodeName"], body["metadata"].get("annotations", {}).get(DEVICES, ""))
        for name, body in (await bench.pods()).items()
        if body["spec"].get("nodeName")
    }


async def test_a_map_decides_node_and_numbers(bench: Bench) -> None:
    """Each pod gets the devices of its line, also where lower ones are free."""
    await bench.start()
    first, second = await names(bench)
    said = {MAP: f"0={second}:5,3\n1={first}:7\n2={second}:0"}
    await submit(bench.cluster, TEAM, [pod(f"w-{i}", 0, annotations=said) for i in range(3)])
    await bench.clock.advance(3)
    assert await devices(bench) == {
        "w-0": (second, "3,5"),
        "w-1": (first, "7"),
        "w-2": (second, "0"),
    }


async def test_a_pod_that_was_not_told_is_bound_when_it_is_created_again(bench: Bench) -> None:
    """It came while the webhook was away, and says so; the next one has the variable."""
    said = {"apiVersion": API_VERSION, "kind": "SchedulerConfig"}
    said["spec"] = {"devices": {"untold": "hold"}}
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": json.dumps(said)}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    await bench.start()
    untold = pod("p", 1)
    del untold["spec"]["containers"][0]["env"]
    await submit(bench.cluster, TEAM, [untold])
    await bench.clock.advance(3)
    assert await devices(bench) == {}
    why = await bench.condition("p")
    assert why.startswith("NotTold: its containers would not be told which devices are theirs")
    assert "To unblock: Create it again while the webhook answers" in why
    await bench.cluster.delete(PODS, Target(TEAM, "p"))
    await submit(bench.cluster, TEAM, [pod("p", 1)])
    await bench.clock.advance(3)
    assert (await devices(bench)).keys() == {"p"}


async def test_a_device_that_is_mapped_twice_is_given_once(bench: Bench) -> None:
    """The second pod waits and says so, and comes when the first is gone."""
    await bench.start()
    first, _ = await names(bench)
    said = {MAP: f"0={first}:3\n1={first}:3"}
    await submit(bench.cluster, TEAM, [pod("w-0", 0, annotations=said)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [pod("w-1", 0, annotations=said)])
    await bench.clock.advance(3)
    assert await devices(bench) == {"w-0": (first, "3")}
    assert "w-0" in await bench.condition("w-1")
    await bench.cluster.delete(PODS, Target(TEAM, "w-0"))
    await bench.clock.advance(60)
    assert await devices(bench) == {"w-1": (first, "3")}


async def test_a_claim_is_met_and_says_by_whom(bench: Bench) -> None:
    """Four in a row for each of two pods; the status of the claim lists both."""
    await bench.start()
    four = claim("four", devices={"count": 4, "policy": "contiguous", "exclusivity": "Exclusive"})
    await submit(bench.cluster, TEAM, [pod("one", 1)])
    await bench.clock.advance(3)
    await bench.cluster.create(GPU_CLAIMS, TEAM, four)
    asks = [pod(f"p-{i}", 4, annotations={CLAIM: "four"}) for i in range(2)]
    await submit(bench.cluster, TEAM, asks)
    await bench.clock.advance(5)
    got = await devices(bench)
    for name in ("p-0", "p-1"):
        numbers = [int(n) for n in got[name][1].split(",")]
        assert numbers == list(range(numbers[0], numbers[0] + 4))
    held = [(node, n) for node, numbers in got.values() for n in numbers.split(",")]
    assert len(held) == len(set(held)) == 9
    status = (await bench.cluster.get(GPU_CLAIMS, Target(TEAM, "four")))["status"]
    assert status["allocated"] == 2
    assert [one["pod"] for one in status["allocations"]] == ["p-0", "p-1"]
    assert status["conditions"][0]["status"] == "True"


async def test_a_claim_that_comes_late_lets_its_pod_start(bench: Bench) -> None:
    """The pod waits for the claim, by name."""
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("p", 1, annotations={CLAIM: "late"})])
    await bench.clock.advance(3)
    assert "names no GpuClaim" in await bench.condition("p")
    await bench.cluster.create(GPU_CLAIMS, TEAM, claim("late", devices={"count": 1}))
    await bench.clock.advance(5)
    assert (await devices(bench)).keys() == {"p"}


async def test_islands_are_kept_whole_for_those_who_demand_them(bench: Bench) -> None:
    """Three pods that demand a linked four find the three islands of four that there are."""
    first, second = await names(bench)
    await report(bench, inventory(first, range(4), range(4, 8)))
    await report(bench, inventory(second, range(4)))
    await bench.start()
    linked = claim("linked", devices={"count": 4}, topology={"mode": "Required"})
    await submit(bench.cluster, TEAM, [])
    await bench.cluster.create(GPU_CLAIMS, TEAM, linked)
    asks = [pod(f"p-{i}", 4, annotations={CLAIM: "linked"}) for i in range(4)]
    await submit(bench.cluster, TEAM, asks)
    await bench.clock.advance(5)
    got = await devices(bench)
    assert sorted(got.values()) == [(first, "0,1,2,3"), (first, "4,5,6,7"), (second, "0,1,2,3")]
    (waits,) = {f"p-{i}" for i in range(4)} - got.keys()
    assert await bench.condition(waits)


async def test_a_node_with_a_stale_inventory_takes_nobody(bench: Bench) -> None:
    """Until its agent has spoken again."""
    first, second = await names(bench)
    await report(bench, inventory(first, nodeUID="earlier"))
    await bench.start()
    await submit(bench.cluster, TEAM, [pod(f"p-{i}", 8) for i in range(2)])
    await bench.clock.advance(3)
    assert [node for node, _ in (await devices(bench)).values()] == [second]
    current = inventory(first)["status"]
    current["nodeUID"] = None
    await bench.cluster.patch(GPU_NODE_STATUSES, Target("", first), {"status": current}, "status")
    await bench.clock.advance(5)
    assert {node for node, _ in (await devices(bench)).values()} == {first, second}


async def test_where_the_kubelet_chooses_nobody_gets_numbers(bench: Bench) -> None:
    """Mode `count`: pods are counted, and the device plugin does the rest."""
    spec = {"devices": {"mode": "count"}}
    said = {"apiVersion": API_VERSION, "kind": "SchedulerConfig", "spec": spec}
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": json.dumps(said)}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    await bench.start()
    await submit(bench.cluster, TEAM, [pod("p", 3)])
    await bench.clock.advance(3)
    ((_, numbers),) = (await devices(bench)).values()
    assert numbers == ""
