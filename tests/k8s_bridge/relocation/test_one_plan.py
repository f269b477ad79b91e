"""One plan at a time: what a repair and a preemption are made of is not given away meanwhile."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import JOBS, LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.relocation import PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from tests.k8s_bridge.relocation.bench import TEAM, Bench, Solved
from tests.twins.jobs import job


class SlowSolver(Solved):
    """A planner that takes so many seconds for a plan, the first time that it finds one."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.seconds = dict[str, float]()

    async def _think(self, what: str) -> None:
        await self.bench.clock.sleep(self.seconds.pop(what, 0.0))

    async def plan(self, snapshot: Snapshot) -> Plan:
        """A batch plan."""
        plan = await super().plan(snapshot)
        await self._think("plan")
        return plan

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """Victims for a gang."""
        plan = await super().preempt(snapshot, gang)
        if plan.victims:
            await self._think("preempt")
        return plan

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """A repair."""
        plan = await super().repair(snapshot)
        if plan.placements and "preempt" not in self.seconds:
            await self._think("repair")
        return plan


async def test_a_repair_that_a_cycle_asks_for_takes_no_room_of_a_preemption() -> None:
    """Both are being solved, for the same node: no pod is evicted for what comes to nothing.

    Leaf 1 has g, which has lost a member and preempts none, and h; leaf 0 a pod that ends, low of
    two, a free node.
    """
    bench = Bench(1, 2)
    bench.solved = solver = SlowSolver(bench)
    await bench.classes(low=1, high=10, meek=20)
    await bench.start()
    await bench.submit("g", 2, priority="meek")
    await bench.submit("h", 2, priority="meek")
    assert await bench.leaves("g") == await bench.leaves("h")
    await bench.submit("one", 1, priority="low")
    await bench.submit("low", 2, priority="low")
    await bench.clock.advance(30)
    slow = set((await bench.places("low")).values())
    bench.kubelets.silent |= slow
    bench.lose((await bench.places("g"))[0])
    await bench.clock.advance(25)
    assert "NotRepaired" in await bench.reasons()
    solver.seconds = {"preempt": 1.0, "repair": 4.0}
    await bench.submit("want", 4, priority="high")
    for _ in range(400):
        if "preempt" not in solver.seconds:
            break
        await bench.clock.advance(0.25)
    await bench.clock.advance(0.25)
    await bench.end("one")
    await bench.clock.advance(40)
    bench.kubelets.silent -= slow
    await bench.clock.advance(20)
    assert len(await bench.places("want")) == 4
    assert len(await bench.events("Evicted")) == 2
    await bench.stop()


class SlowPages:
    """Pages take 1.9 s each to be written, the first time, once it `is_on`."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.is_on, self.begun = bench, False, set[str]()

    async def before(self, request: ApiRequest) -> None:
        """Take a while."""
        name = request.target.name
        is_page = (request.kind, request.verb) == (LEASES, "update") and name.startswith("page-")
        if self.is_on and is_page and name not in self.begun:
            self.begun.add(name)
            await self.bench.clock.sleep(1.9)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_no_pod_moves_to_where_a_cycle_that_seats_a_gang_puts_another() -> None:
    """One cycle commits a pod to the last free node beside g, and a repaired gang to its places.

    While their pages are written, the node of g is to be emptied: g stays, as nothing is free.
    """
    bench = Bench(1, 2)
    bench.solved = solver = SlowSolver(bench)
    pages = SlowPages(bench)
    await bench.start(answers=pages)
    await bench.submit("full", 2)
    await bench.submit("g", 1)
    await bench.submit("k", 3)
    assert await bench.leaves("g") == await bench.leaves("full") != await bench.leaves("k")
    await bench.clock.advance(20)
    node, uids = (await bench.places("g"))[0], await bench.uids("g")
    used = {node, *(await bench.places("full")).values()}
    (free,) = {f"{node[:-1]}{index}" for index in range(4)} - used
    bench.lose((await bench.places("k"))[0])
    for _ in range(1000):
        if await bench.open_relocations():
            break
        await bench.clock.advance(0.05)
    solver.seconds = {"plan": 1.0}
    await submit(
        bench.cluster, TEAM, [pod("small", 0, labels={"batch.kubernetes.io/job-name": "small"})]
    )
    for _ in range(1000):
        if any(not body["spec"].get("nodeName") for body in await bench.pods("k")):
            break
        await bench.clock.advance(0.05)
    pages.is_on = True
    new = job("new", 1, 8)
    new["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": free}
    await bench.cluster.create(JOBS, TEAM, new)
    for _ in range(1000):
        if pages.begun:
            break
        await bench.clock.advance(0.02)
    await bench.clock.advance(0.05)
    drained = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", node), drained)
    await bench.clock.advance(20)
    assert (await bench.places("new"))[0] == free
    assert len(await bench.places("k")) == 3
    assert await bench.uids("g") == uids
    assert (await bench.places("g"))[0] == node
    await bench.stop()
