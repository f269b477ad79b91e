"""Places kept for a gang use up neither the quota nor the room that it would need elsewhere."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.scheduling import cycle
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of


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


async def test_half_of_its_places_and_another_node_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of four nodes are kept for a gang; one of them comes free, and then one of the others.

    It starts on both, though another gang, which comes first, is in the same way in the other leaf,
    and one is looked for in a cycle.
    """
    monkeypatch.setattr(cycle, "OWN_ROOM_SOLVES", 1)
    bench = Bench(1, 2)
    await bench.config("{backfill: {afterSeconds: 5}}")
    await bench.classes(meek=10)
    await bench.start()
    # Two of each leaf end long before the others.
    names = {f"s-{number}": 3000 + number + number % 4 // 2 * 3000 for number in range(8)}
    for name, seconds in names.items():
        await bench.submit(name, 1, expected_duration=f"{seconds}s", priority="meek")
    on = {node: name for name in names for node in (await bench.places(name)).values()}
    gangs = {"first": "meek", "second": ""}
    for name, priority in gangs.items():
        await bench.submit(name, 2, priority=priority)
        await bench.clock.advance(40)
    assert len(await bench.reservations()) == 2
    leases = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    kept = {
        one.gang.name: sorted(seat.node for seat in one.seats)
        for one in map(read_relocation, leases)
    }
    for nodes in kept.values():
        await bench.end(on.pop(nodes[0]))
    del on[kept["first"][1]], on[kept["second"][1]]
    await bench.clock.advance(10)
    assert [await bench.places(name) for name in gangs] == [{}, {}]
    leaf = leaf_of(kept["second"][0])
    (other, *_) = (node for node in on if leaf_of(node) == leaf)
    await bench.end(on[other])
    await bench.clock.advance(10)
    assert set((await bench.places("second")).values()) == {kept["second"][0], other}
    await bench.stop()
