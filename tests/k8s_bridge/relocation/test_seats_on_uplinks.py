"""Kept seats take the uplinks that their gang will use."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.relocation.bench import TEAM, Bench

ACROSS = {
    "topology.scheduler/network-bandwidth": "100Gb",
    "topology.scheduler/topology-policy": "Preferred",
}
SPEC = "{network: {nodeBandwidth: 100Gb, uplinkBandwidth: 100Gb}, preemption: {afterSeconds: 1}}"


def standing(node: str, priority: str) -> dict[str, Any]:
    """A pod that fills a node."""
    body = pod(f"on-{node}", 8)
    body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    body["spec"]["priorityClassName"] = priority
    return body


async def test_another_gang_does_not_take_the_uplink_meanwhile() -> None:
    """Two leaves, an uplink for one gang across: `y` finds two free nodes while the victims end."""
    bench = Bench(1, 2)
    await bench.config(SPEC)
    await bench.classes(low=1, high=10, keep=100)
    await bench.start()
    names = [node["metadata"]["name"] for node in bench.fabric]
    victims = {names[0], names[4]}
    held = [standing(name, "low" if name in victims else "keep") for name in names]
    await submit(bench.cluster, "other", held)
    await bench.clock.advance(3)
    bench.kubelets.silent |= victims
    high = gang("x", 2, 8, **ACROSS)
    for body in high:
        body["spec"]["priorityClassName"] = "high"
    await submit(bench.cluster, TEAM, high)
    await bench.clock.advance(6)
    await submit(bench.cluster, TEAM, gang("y", 2, 8, **ACROSS))
    for name in (names[1], names[5]):
        await bench.cluster.delete(PODS, Target("other", f"on-{name}"))
    await bench.clock.advance(5)
    bench.kubelets.silent -= victims
    await bench.clock.advance(20)
    pods = (await bench.cluster.list(PODS, TEAM)).items
    bound = sorted(one["metadata"]["name"] for one in pods if one["spec"].get("nodeName"))
    assert bound == ["x-0", "x-1"]
    await bench.stop()
