"""Room that comes goes to a gang that has lost a member before it goes to who is new.

The fabric is one spine of 2 leaves of 4 nodes, all of them taken.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.repair import RepairPlanner
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.snapshot import RunningPod, Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench, Solved, leaf_of
from tests.small import WHOLE
from tests.twins.virtual_clock import VirtualClock


class Slow(Solved):
    """A planner of repairs that takes its time once it is `slow`."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.slow = False

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """A repair plan, half a minute later."""
        if self.slow:
            await self.bench.clock.sleep(30)
        return await super().repair(snapshot)


async def full(bench: Bench) -> str:
    """A gang of 2 has lost the second member; one pod of its own on each other node; one waits.

    The leaf of the gang.
    """
    await bench.submit("g", 2)
    places = await bench.places("g")
    for number in range(6):
        await bench.submit(f"other-{number}", 1)
    bench.lose(places[1])
    await bench.clock.advance(30)
    assert "NotRepaired" in await bench.reasons()
    await bench.submit("new", 1)
    await bench.clock.advance(3)
    assert not await bench.places("new")
    return places[0]


async def ends(bench: Bench, beside: str, same: bool) -> None:
    """A pod comes to its end, in the leaf of the node `beside` or in the other one."""
    for number in range(6):
        (node,) = (await bench.places(f"other-{number}")).values()
        if (leaf_of(node) == leaf_of(beside)) is same:
            await bench.end(f"other-{number}")
            return


@pytest.fixture
async def small() -> Bench:
    """Two leaves."""
    return Bench(1, 2)


async def test_room_in_the_leaf_goes_to_the_gang_that_stands_there(small: Bench) -> None:
    """It runs again, and the pod that has come since waits on."""
    await small.start()
    node = await full(small)
    await ends(small, node, same=True)
    await small.clock.advance(5)
    places = await small.places("g")
    assert len(places) == 2
    assert len({leaf_of(one) for one in places.values()}) == 1
    assert not await small.places("new")
    await small.stop()


async def test_a_gang_that_no_room_helps_keeps_no_other_from_it(small: Bench) -> None:
    """A pod that no controller makes anew stands on a node that is to be emptied."""
    await small.start()
    await small.submit("g", 2)
    places = await small.places("g")
    labels = {"batch.kubernetes.io/job-name": "bare"}
    await submit(small.cluster, TEAM, [pod("bare", 8, labels=labels)])
    await small.clock.advance(3)
    for number in range(5):
        await small.submit(f"other-{number}", 1)
    (bare,) = await small.pods("bare")
    drained = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await small.cluster.patch(NODES, Target("", bare["spec"]["nodeName"]), drained)
    await small.clock.advance(10)
    small.lose(places[1])
    await small.clock.advance(30)
    await small.submit("new", 1)
    await small.clock.advance(3)
    assert not await small.places("new")
    for number in range(5):
        (node,) = (await small.places(f"other-{number}")).values()
        if leaf_of(node) == leaf_of(places[0]):
            await small.end(f"other-{number}")
            break
    await small.clock.advance(8)
    assert len(await small.places("g")) == 2
    assert not await small.places("new")
    await small.stop()


async def test_room_that_is_of_no_use_to_it_goes_to_who_is_new(small: Bench) -> None:
    """A node of the other leaf, after one look."""
    await small.start()
    node = await full(small)
    looks = len(small.solved.repairs)
    await ends(small, node, same=False)
    await small.clock.advance(1)
    assert await small.places("new")
    assert len(small.solved.repairs) == looks + 1
    await small.stop()


async def test_nothing_is_planned_again_where_nothing_ends(
    small: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three gangs come in nine seconds, each with cycles: none of them looks for a repair."""
    await small.start()
    await full(small)
    hastened = list[bool]()
    hasten = RepairPlanner.hasten

    def noted(self: RepairPlanner, snapshot: Snapshot) -> bool:
        hastened.append(hasten(self, snapshot))
        return hastened[-1]

    looks = len(small.solved.repairs)
    monkeypatch.setattr(RepairPlanner, "hasten", noted)
    for number in range(3):
        await small.submit(f"late-{number}", 1)
    assert len(hastened) >= 3
    assert not any(hastened)
    assert len(small.solved.repairs) <= looks + 2
    await small.stop()


async def test_a_cycle_waits_for_a_second_at_most(small: Bench) -> None:
    """The repair is planned for half a minute; who is new runs long before."""
    small.solved = slow = Slow(small)
    await small.start()
    node = await full(small)
    slow.slow = True
    await ends(small, node, same=True)
    await small.clock.advance(2)
    assert await small.places("new")
    await small.stop()


async def test_room_that_comes_while_nodes_die_is_no_reason_to_hurry(small: Bench) -> None:
    """Three nodes are found dead within two seconds, and a pod ends: nothing is planned until then.

    All that has failed is repaired together, a second after the last node.
    """
    scheduler = await small.start()
    node = await full(small)
    term = scheduler._term
    assert term is not None
    assert term.parts is not None
    assert term.parts.nodes is not None
    looks = len(small.solved.repairs)
    term.parts.nodes.died.set()
    await ends(small, node, same=True)
    for _ in range(2):
        await small.clock.advance(0.9)
        term.parts.nodes.died.set()
    await small.clock.advance(0.9)
    assert len(small.solved.repairs) == looks
    await small.clock.advance(6)
    assert len(small.solved.repairs) > looks
    await small.stop()


async def test_room_that_came_is_looked_at_once(small: Bench) -> None:
    """Of two gangs that found no place, one is held for a bad annotation: no plan looks at it.

    A node becomes free in its leaf, which is of no use to the other one. Pods come one by one for
    ten seconds: that gang is planned for twice, or three times, and not before each of them.
    """
    await small.start()
    for name in ("held", "g"):
        await small.submit(name, 2)
        for number in range(2):
            await small.submit(f"{name}-{number}", 1)
    held, places = await small.places("held"), await small.places("g")
    frees = (await small.places("held-0"))[0]
    assert {leaf_of(node) for node in held.values()} == {leaf_of(frees)}
    assert leaf_of(frees) not in map(leaf_of, places.values())
    small.lose(held[1], places[1])
    await small.clock.advance(40)
    for one in await small.pods("held"):
        if one["spec"]["nodeName"] == held[1]:
            await small.cluster.delete(PODS, Target(TEAM, one["metadata"]["name"]))
    await small.clock.advance(1)
    (comes,) = [one for one in await small.pods("held") if not one["spec"].get("nodeName")]
    bad = {"metadata": {"annotations": {"topology.scheduler/network-bandwidth": "much"}}}
    await small.cluster.patch(PODS, Target(TEAM, comes["metadata"]["name"]), bad)
    await small.clock.advance(10)
    await small.end("held-0")
    await small.clock.advance(1)
    looks = len(small.solved.repairs)
    for number in range(20):
        await submit(small.cluster, TEAM, [pod(f"fresh-{number}", 0)])
        await small.clock.advance(0.5)
    assert looks + 2 <= len(small.solved.repairs) <= looks + 3
    assert await small.open_relocations() == []
    await small.stop()


def test_room_that_has_come_hastens_one_look() -> None:
    """A pod has ended since a gang found no place: that is worth one look at it, and no second."""
    part: Any = SimpleNamespace()
    repair = RepairPlanner(part, part, part, VirtualClock(), part, part, part, part, part)
    fabric, gang = Fabric(()), GangKey(TEAM, "g")
    repair.lost[gang] = Reason(ReasonKind.NO_FREE_CAPACITY)
    repair._planned_on = Snapshot(fabric, (RunningPod(TEAM, "other", "n", WHOLE),))
    now = Snapshot(fabric, ())
    assert repair.hasten(now)
    assert not repair.hasten(now)
