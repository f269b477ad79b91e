"""Clusters as they come, on the whole scheduler: no leaf, no device plugin."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, GPU_CLAIMS, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import node, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from tests.k8s_bridge.scheduling.test_devices import CLAIM, MAP, devices, inventory, report
from tests.k8s_bridge.test_scheduler import TEAM, Bench

AKS = "aks-workerpool-25338008-vmss00000"
LINES = f"0={AKS}0:0,1\n1={AKS}1:2\n2={AKS}3:0,1,2\n3={AKS}4:3\n"


def silent(name: str) -> Body:
    """A node without a label of a leaf, on which no device plugin announces anything."""
    body = node(name, "", "", 0)
    body["metadata"]["labels"] = {}
    del body["status"]["allocatable"]["nvidia.com/gpu"]
    return body


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four such nodes."""
    bench = Bench()
    for number in (0, 1, 3, 4):
        await bench.cluster.create(NODES, "", silent(f"{AKS}{number}"))
    yield bench
    await bench.stop()


async def test_a_map_is_enough_where_nothing_announces_gpus(bench: Bench) -> None:
    """Every pod has the node and the numbers of its line, and a device that is held is waited for.

    A pod that asks for GPUs by resource, which the kubelet there would refuse, waits and says so.
    """
    scheduler = await bench.start()
    assert not scheduler.unsynced
    said = {MAP: LINES}
    await submit(bench.cluster, TEAM, [pod(f"w-{i}", 0, annotations=said) for i in range(4)])
    await bench.clock.advance(3)
    other = {MAP: f"0={AKS}0:1,2"}
    await submit(bench.cluster, TEAM, [pod("asks", 1), pod("other-0", 0, annotations=other)])
    await bench.clock.advance(3)
    lines = {
        "w-0": (f"{AKS}0", "0,1"),
        "w-1": (f"{AKS}1", "2"),
        "w-2": (f"{AKS}3", "0,1,2"),
        "w-3": (f"{AKS}4", "3"),
    }
    assert await devices(bench) == lines
    assert "4 nodes whose GPUs no device plugin announces" in await bench.condition("asks")
    await bench.cluster.delete(PODS, Target(TEAM, "w-0"))
    await bench.clock.advance(60)
    del lines["w-0"]
    assert await devices(bench) == lines | {"other-0": (f"{AKS}0", "1,2")}


async def test_an_inventory_is_enough_where_nothing_announces_gpus(bench: Bench) -> None:
    """A claim without limits gets devices of the node of which the agent has told."""
    await report(bench, inventory(f"{AKS}1"))
    two = {"metadata": {"name": "two", "namespace": TEAM}, "spec": {"devices": {"count": 2}}}
    await submit(bench.cluster, TEAM, [])
    await bench.cluster.create(GPU_CLAIMS, TEAM, two)
    await bench.start()
    mapped = pod("w-0", 0, annotations={MAP: f"0={AKS}0:0,1"})
    claims = [pod(f"c-{i}", 0, annotations={CLAIM: "two"}) for i in range(5)]
    await submit(bench.cluster, TEAM, [mapped, *claims, pod("asks", 1)])
    await bench.clock.advance(5)
    got = await devices(bench)
    # The devices of w-0 are its word alone: no claim may be met by them.
    assert got.pop("w-0") == (f"{AKS}0", "0,1")
    assert {where for where, _ in got.values()} == {f"{AKS}1"}
    assert sorted(n for _, held in got.values() for n in held.split(",")) == list("01234567")
    assert "whose GPUs no device plugin announces" in await bench.condition("asks")


async def test_who_leads_a_cluster_that_the_config_refuses_is_ready(bench: Bench) -> None:
    """Nothing is placed; one event on the config and the pod's condition say why."""
    spec = {"topology": {"unlabelled": "refuse"}}
    said = {"apiVersion": API_VERSION, "kind": "SchedulerConfig", "spec": spec}
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": json.dumps(said)}}
    await bench.cluster.create(CONFIG_MAPS, "kube-system", body)
    bare = node("n9", "", "", 8)
    bare["metadata"]["labels"] = {}
    await bench.cluster.create(NODES, "", bare)
    scheduler = await bench.start()
    await submit(bench.cluster, TEAM, [pod("p", 1)])
    await bench.clock.advance(5)
    assert not scheduler.unsynced
    assert "1 node without a leaf, which the config refuses" in await bench.condition("p")
    events = (await bench.cluster.list(EVENTS, "kube-system")).items
    (note,) = [one["note"] for one in events if one["reason"] == "TopologyIncomplete"]
    assert "refuses all 1 GPU nodes" in note
