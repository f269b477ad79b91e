"""Gangs that have lost members, and for which a place is reserved: that is no repair yet."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from tests.k8s_bridge.relocation.bench import TEAM, Bench


async def reserved(bench: Bench) -> list[str]:
    """The nodes of the one relocation that is under way."""
    (body,) = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    return [seat.node for seat in read_relocation(body).seats]


@pytest.mark.parametrize("movable", ["false", "true"])
async def test_a_gang_moves_though_a_place_is_reserved_for_it(movable: str) -> None:
    """Another scheduler has a member's node; the other leaf comes free: it is there in 10 s."""
    bench = Bench(1, 2)
    await bench.config("{backfill: {afterSeconds: 20}}")
    await bench.start()
    await bench.submit("g", 2, movable=movable)
    await bench.submit("x", 1)
    await bench.submit("y", 1)
    await bench.submit("k", 4)
    await bench.clock.advance(30)
    (body, _) = await bench.pods("g")
    await bench.cluster.delete(PODS, Target(TEAM, body["metadata"]["name"]))
    other = pod("other", 8, "default-scheduler", labels={"batch.kubernetes.io/job-name": "other"})
    other["spec"]["nodeName"] = body["spec"]["nodeName"]
    await submit(bench.cluster, TEAM, [other])
    await bench.clock.advance(60)
    assert await bench.reservations() == [f"{TEAM}/g"]
    leaves = await bench.leaves("k")
    await bench.end("k")
    await bench.clock.advance(10)
    assert len(await bench.places("g")) == 2
    assert await bench.leaves("g") == leaves
    await bench.clock.advance(2)
    assert await bench.open_relocations() == []
    await bench.stop()


async def test_no_other_is_repaired_by_a_place_that_is_reserved() -> None:
    """Two nodes are reserved for a gang, and one is free by now; a pod beside it loses its node.

    Nothing is planned for it there, and the gang is whole as soon as the second node comes free.
    """
    bench = Bench(1, 2)
    await bench.config("{backfill: {afterSeconds: 20}}")
    await bench.classes(meek=10)
    await bench.start()
    await bench.submit("g", 3)
    await bench.submit("x", 1)
    await bench.submit("k", 3)
    await bench.submit("one", 1)
    await bench.clock.advance(10)
    for name in ("y", "z"):
        await bench.submit(name, 1, priority="meek")
    for body in (await bench.pods("g"))[:2]:
        await bench.cluster.delete(PODS, Target(TEAM, body["metadata"]["name"]))
    await bench.clock.advance(60)
    assert await bench.reservations() == [f"{TEAM}/g"]
    on = {node: name for name in "xyz" for node in (await bench.places(name)).values()}
    first, second = (on[node] for node in await reserved(bench))
    await bench.end(first)
    bench.lose((await bench.places("one"))[0])
    await bench.clock.advance(60)
    assert await bench.reservations() == [f"{TEAM}/g"]
    assert not any(plan.placements for plan in bench.solved.repairs)
    await bench.end(second)
    await bench.clock.advance(5)
    assert len(await bench.places("g")) == 3
    await bench.stop()
