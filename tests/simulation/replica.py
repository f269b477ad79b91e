"""One replica of the scheduler, on a machine of its own, started again under a new name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.leader import CyclePace
from fourleaf.k8s_bridge.ledger.commit import CommitRequest
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
from fourleaf.k8s_bridge.runtime.randomness import seeded
from fourleaf.k8s_bridge.scheduler import DryRunMode, Scheduler, SchedulerOptions
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.relocation.defragment import defragment
from fourleaf.solver.relocation.preempt import preempt
from fourleaf.solver.relocation.repair import repair
from tests.simulation.chance import stream
from tests.simulation.clocks import MachineClock
from tests.simulation.laws.evictions import Evictions
from tests.simulation.story import WHO
from tests.simulation.wire import Wire
from tests.starts import earliest

if TYPE_CHECKING:
    from tests.simulation.world import World

_DRY_RUNS: tuple[DryRunMode, ...] = ("never", "never", "always", "auto")

_CROWDED = Reason(ReasonKind.NO_FREE_CAPACITY)

_METRICS = SchedulerMetrics()
_PACE = CyclePace(settle=0.1, longest=0.5)
"""Slower than usual: what looks around fifty times a second costs most of a simulation."""


class Replica:
    """A process that may die and come back. `rate` is how fast its clock runs."""

    def __init__(self, world: World, name: str, rate: float) -> None:
        self.name = name
        self.identity = ""
        self.formats = KNOWN
        """What the next process of it will know."""
        self.machine = MachineClock(world.clock, rate)
        self._rate = rate
        self._world = world
        self._starts = 0
        self._wire: Wire | None = None
        self.scheduler: Scheduler | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def leads(self) -> bool:
        """Whether it leads, as far as it knows."""
        return self.scheduler is not None and self.scheduler.leading

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._task is not None:
            return
        world = self._world
        self._starts += 1
        self.identity = f"{self.name}{self._starts}"
        self.machine = MachineClock(world.clock, self._rate)
        chance = stream(world.seed, "replica", self.identity)
        self._wire = Wire(world, self.identity, self.machine, world.faults.values(), chance)
        world.versions[self.identity] = self.formats
        options = SchedulerOptions(
            identity=self.identity,
            dry_run=chance.choice(_DRY_RUNS),
            pace=_PACE,
            formats=self.formats,
        )
        token = WHO.set(self.identity)
        with seeded(stream(world.seed, "waits", self.identity)):
            self.scheduler = Scheduler(
                self._wire,
                self.machine,
                self._solve,
                options,
                lambda s: _Reporter(s, world.evictions),
                planner=self,
                prober=world.heartbeats,
            )
            self._task = asyncio.create_task(self.scheduler.run(), name=self.identity)
        WHO.reset(token)
        world.story.did("started", self.identity)

    def crash(self) -> None:
        """Kill the process: nothing that it would do from now on reaches the cluster."""
        if self._task is None or self._wire is None:
            return
        self._wire.dead = True
        self.machine.resume()
        self._task.cancel()
        self._world.ended.append(self._task)
        self._task = self.scheduler = None
        self._world.story.did("crashed", self.identity)

    def upgrade(self) -> None:
        """Make way for a process of this version, unless it is one."""
        if self._world.versions.get(self.identity) != KNOWN:
            self.crash()
        self.formats = KNOWN

    def check(self) -> None:
        """Report a process that has ended by itself."""
        if self._task is not None and self._task.done():
            error = self._task.exception()
            self._world.story.broken("no process ends by itself", f"{self.identity}: {error!r}")
            self._task = None

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """A repair plan; it may come late."""
        plan = repair(snapshot) or RepairPlan(PlanStatus.FEASIBLE)
        await self._think()
        return plan

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """A preemption plan; it may come late."""
        plan = preempt(snapshot, gang) or PreemptionPlan(PlanStatus.FEASIBLE, gang)
        await self._think()
        return plan

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """A defragmentation plan; it may come late."""
        plan = defragment(snapshot, budget) or DefragPlan(PlanStatus.FEASIBLE)
        await self._think()
        return plan

    async def earliest(self, snapshot: Snapshot, gang: GangKey) -> Start:
        """When and where a gang could start; it may come late."""
        start = earliest(snapshot, gang) or Start(gang)
        await self._think()
        return start

    async def _solve(self, snapshot: Snapshot) -> Plan:
        """Plan greedily; the plan may come late."""
        plan = greedy_plan(snapshot)
        await self._think()
        return replace(plan, waiting=tuple(map(_crowded, plan.waiting)))

    async def _think(self) -> None:
        chance = stream(self._world.seed, "solve", self.identity, f"{self.machine.monotonic():.6f}")
        await self.machine.sleep(chance.choice((0.001, 0.001, 0.05, 0.5, 2.0)))


class _Reporter(Reporter):
    """Tells the laws as well what a cycle is about to commit."""

    def __init__(self, scheduler: SchedulerState, evictions: Evictions) -> None:
        super().__init__(scheduler, _METRICS)
        self._evictions = evictions

    def committing(self, plan: tuple[CommitRequest, ...], snapshot: Snapshot) -> None:
        """Once the cluster has been looked at for the last time."""
        super().committing(plan, snapshot)
        self._evictions.committing(request.gang for request in plan)


def _crowded(one: Waiting) -> Waiting:
    """The same with the usual reason, where nothing holds it back; to find out takes time."""
    unknown = one.reason.kind is ReasonKind.NOT_PROVEN
    return replace(one, reason=_CROWDED) if unknown else one
