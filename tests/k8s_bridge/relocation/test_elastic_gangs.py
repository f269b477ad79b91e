"""Gangs that may start with fewer than they are, while members of them move: all come back."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS, JOBS, NODES
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.jobs import job


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """One leaf of four nodes, a scheduler that leads, and a priority that preempts none."""
    bench = Bench(1, 1)
    await bench.start()
    await bench.classes(meek=10)
    yield bench
    await bench.stop()


async def run(bench: Bench, least: int) -> dict[int, str]:
    """Run a Job of two whole nodes that may start with `least` of them; where it runs."""
    await add_namespace(bench.cluster, TEAM)
    group: Body = {"metadata": {"name": "a"}, "spec": {"minMember": least}}
    await bench.cluster.create(COSCHEDULING_POD_GROUPS, TEAM, group)
    body = job("a", 2, 8)
    body["spec"]["template"]["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "a"}
    await bench.cluster.create(JOBS, TEAM, body)
    await bench.clock.advance(10)
    return await bench.places("a")


@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("drained", [(0,), (0, 1)])
async def test_who_leaves_a_drained_node_has_the_place_that_was_kept(
    bench: Bench, drained: tuple[int, ...], least: int
) -> None:
    """A gang of a higher priority that comes meanwhile has none of the places: it waits."""
    places = await run(bench, least)
    await bench.submit("fill", 2 - len(drained), namespace="fill")
    await bench.clock.advance(20)
    for index in drained:
        asked = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
        await bench.cluster.patch(NODES, Target("", places[index]), asked)
    for _ in range(200):
        await bench.clock.advance(0.05)
        if "a" in await bench.open_relocations():
            break
    await bench.submit("b", len(drained), namespace="other", priority="meek")
    await bench.clock.advance(50)
    now = await bench.places("a")
    assert len(now) == 2
    assert {places[index] for index in drained}.isdisjoint(now.values())
    assert not await bench.places("b", namespace="other")
    assert not await bench.open_relocations()
