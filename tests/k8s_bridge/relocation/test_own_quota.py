"""Places kept for a gang do not use up the quota that it would need elsewhere."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from tests.k8s_bridge.relocation.bench import TEAM, Bench


@pytest.mark.parametrize("quota", [16, 8, 4])
async def test_another_node_becomes_free_first(quota: int) -> None:
    """One of four nodes is kept for a pod of 8 GPUs, and another one is free before it."""
    bench = Bench(1, 1)
    await bench.config(
        f"{{backfill: {{afterSeconds: 5}}, namespaces: {{ml: {{gpuQuota: {quota}}}}}}}"
    )
    await bench.start()
    await submit(bench.cluster, "other", [pod(f"o-{i}", 8) for i in range(4)])
    await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, [pod("mine", 8)])
    await bench.clock.advance(30)
    leases = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    kept = [seat.node for body in leases for seat in read_relocation(body).seats]
    others = {
        one["metadata"]["name"]: one["spec"]["nodeName"]
        for one in (await bench.cluster.list(PODS, "other")).items
    }
    free = next(name for name, node in others.items() if node not in kept)
    await bench.cluster.delete(PODS, Target("other", free))
    await bench.clock.advance(20)
    node = (await bench.cluster.get(PODS, Target(TEAM, "mine")))["spec"].get("nodeName")
    assert (len(kept), node) == ((1, others[free]) if quota >= 8 else (0, None))
    await bench.stop()
