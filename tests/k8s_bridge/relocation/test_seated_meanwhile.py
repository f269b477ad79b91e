"""A gang is being bound to places that were kept for it as it is planned for in another way."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.scheduler import Scheduler
from fourleaf.model.gang import GangKey
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench, Solved, leaf_of
from tests.k8s_bridge.relocation.test_moving import ask
from tests.k8s_bridge.scheduling.test_hanging_records import Hangs
from tests.k8s_bridge.scheduling.test_hanging_seats import undecided


class Late(Solved):
    """A solver whose next plan by which pods go comes three seconds late, once it `is_late`."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench, self.is_late, self.thinks = bench, False, False

    async def _think(self) -> None:
        if self.is_late:
            self.is_late, self.thinks = False, True
            await self.bench.clock.sleep(3)
            self.thinks = False

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """A repair."""
        plan = await super().repair(snapshot)
        if plan.moves:
            await self._think()
        return plan

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """Victims."""
        plan = await super().preempt(snapshot, gang)
        if plan.victims:
            await self._think()
        return plan

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Moves that make room."""
        plan = await super().defragment(snapshot, budget)
        if plan.moves:
            await self._think()
        return plan


class Evictions(Hangs):
    """Notes who was `evicted`, and has updates of a page hang."""

    def __init__(self) -> None:
        super().__init__("", "update")
        self.evicted: list[str] = []

    async def before(self, request: ApiRequest) -> None:
        """Note it."""
        if request.subresource == "eviction" and not request.dry_run:
            self.evicted.append(request.target.name)
        await super().before(request)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Three leaves of 4 nodes, and no scheduler yet."""
    bench = Bench(1, 3)
    yield bench
    await bench.stop()


async def reserved(bench: Bench, gang: str) -> list[str]:
    """The nodes that are reserved for a gang, which alone has any."""
    assert await bench.reservations() == [f"{TEAM}/{gang}"]
    (body,) = (await bench.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
    return [seat.node for seat in read_relocation(body).seats]


async def until(bench: Bench, solver: Late, thinks: bool) -> None:
    """Wait until the solver is at work, or is no more."""
    while solver.thinks is not thinks:
        await bench.clock.advance(0.05)


async def seated(
    bench: Bench, scheduler: Scheduler, evictions: Evictions, gang: str, places: list[str]
) -> None:
    """Places are free at last; their page hangs until the plan is there: none is evicted."""
    solver = bench.solved
    assert isinstance(solver, Late)
    await bench.clock.advance(0.5)
    page = page_name(f"leaf-0-{leaf_of(places[0])}", 0)
    evictions.name, evictions.on = page, True
    for name in {
        body["metadata"]["labels"]["batch.kubernetes.io/job-name"]
        for body in (await bench.cluster.list(PODS, TEAM)).items
        if body["spec"].get("nodeName") in places
    }:
        await bench.end(name)
    await until(bench, solver, False)
    await bench.clock.advance(0.8)
    assert undecided(scheduler) == [gang]
    assert not evictions.evicted
    evictions.on = False
    evictions.go.set()
    await bench.clock.advance(20)
    assert set(places) <= set((await bench.places(gang)).values())


async def test_no_pod_moves_for_a_gang_that_is_being_seated(bench: Bench) -> None:
    """The leaf that is reserved for `four` comes free while moves to another one are planned."""
    bench.solved = solver = Late(bench)
    evictions = Evictions()
    await bench.config(
        "{backfill: {afterSeconds: 5},"
        " defragmentation: {minimumRuntimeSeconds: 0, movesPerHour: 8}}"
    )
    scheduler = await bench.start(answers=evictions)
    for name, size in (("a", 2), ("x", 2), ("b1", 1), ("b2", 1), ("y", 2), ("c", 2), ("z", 2)):
        await bench.submit(name, size, movable="true")
    for name in "xyz":
        await bench.finish(name)
    await bench.submit("four", 4)
    await bench.clock.advance(60)
    places = await reserved(bench, "four")
    solver.is_late = True
    await ask(bench)
    await until(bench, solver, True)
    await seated(bench, scheduler, evictions, "four", places)


async def test_no_pod_makes_way_for_a_gang_that_is_being_seated(bench: Bench) -> None:
    """The leaf that is reserved for `high` comes free while victims of it are looked for."""
    bench.solved = solver = Late(bench)
    evictions = Evictions()
    await bench.config("{backfill: {afterSeconds: 3}, preemption: {afterSeconds: 20}}")
    await bench.classes(low=1, mid=10, high=10)
    scheduler = await bench.start(answers=evictions)
    await bench.submit("mid", 4, priority="mid", expected_duration="90s")
    await bench.submit("rest", 4, priority="mid")
    for number in range(4):
        await bench.submit(f"low-{number}", 1, priority="low")
    await bench.submit("high", 4, priority="high")
    await bench.clock.advance(10)
    places = await reserved(bench, "high")
    solver.is_late = True
    await until(bench, solver, True)
    await seated(bench, scheduler, evictions, "high", places)


async def test_a_gang_that_is_being_seated_moves_nowhere(bench: Bench) -> None:
    """The node that is reserved for a lost member of `g` comes free while another leaf is planned.

    That one has come free too, and all of the gang would move there.
    """
    bench.solved = solver = Late(bench)
    evictions = Evictions()
    await bench.config("{backfill: {afterSeconds: 20}}")
    scheduler = await bench.start(answers=evictions)
    for name, size in (("g", 2), ("x", 1), ("y", 1), ("k", 4), ("rest", 4)):
        await bench.submit(name, size)
    await bench.clock.advance(20)
    (body, _) = await bench.pods("g")
    await bench.cluster.delete(PODS, Target(TEAM, body["metadata"]["name"]))
    other = pod("other", 8, "default-scheduler", labels={"batch.kubernetes.io/job-name": "other"})
    other["spec"]["nodeName"] = body["spec"]["nodeName"]
    await submit(bench.cluster, TEAM, [other])
    await bench.clock.advance(60)
    places = await reserved(bench, "g")
    solver.is_late = True
    await bench.end("k")
    await until(bench, solver, True)
    await seated(bench, scheduler, evictions, "g", places)
