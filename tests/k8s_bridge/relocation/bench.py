"""A cluster on the twin with Jobs, nodes that die, and a scheduler that repairs."""

from __future__ import annotations

import asyncio
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import AlreadyExists
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    EVENTS,
    JOBS,
    LEASES,
    NODES,
    PODS,
    PRIORITY_CLASSES,
)
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import Kubelets, add_namespace, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import Interceptor
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation
from fourleaf.k8s_bridge.relocation.records import Purpose
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.scheduler import DryRunMode, Scheduler, SchedulerOptions
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP
from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.relocation.defragment import defragment
from fourleaf.solver.relocation.explain import explain_repair
from fourleaf.solver.relocation.preempt import preempt
from fourleaf.solver.relocation.repair import repair
from tests.starts import earliest
from tests.twins.disruption import DisruptionController
from tests.twins.heartbeats import FakeHeartbeats
from tests.twins.jobs import INDEX, JobController, job
from tests.twins.virtual_clock import VirtualClock

TEAM = "ml"
FAILOVER = 20.0
"""Seconds after which another leads, whatever became of the one before."""


def leaf_of(node: str) -> int:
    """The number of its leaf."""
    return int(node.split("-")[2])


class Solved:
    """The real solver, in this process, and what it has answered."""

    def __init__(self) -> None:
        self.repairs: list[RepairPlan] = []
        self.preemptions: list[PreemptionPlan] = []
        self.gatherings: list[DefragPlan] = []
        self.starts: list[Start] = []

    async def plan(self, snapshot: Snapshot) -> Plan:
        """A batch plan with reasons."""
        plan = solve(snapshot)
        assert plan is not None
        return explain(snapshot, plan, Extensions())

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """A repair plan with reasons."""
        found = repair(snapshot)
        assert found is not None
        plan = explain_repair(snapshot, found, Extensions())
        self.repairs.append(plan)
        return plan

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """Whom to evict for `gang`."""
        plan = preempt(snapshot, gang)
        assert plan is not None
        self.preemptions.append(plan)
        return plan

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Moves that make room."""
        plan = defragment(snapshot, budget)
        assert plan is not None
        self.gatherings.append(plan)
        return plan

    async def earliest(self, snapshot: Snapshot, gang: GangKey) -> Start:
        """When and where a gang could start."""
        start = earliest(snapshot, gang)
        assert start is not None
        self.starts.append(start)
        return start


class Bench:
    """`spines` of `leaves` leaves of 4 nodes of 8 GPUs, everybody at work, no scheduler yet."""

    def __init__(self, spines: int = 1, leaves: int = 4) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(clock=self.clock)
        store = self.cluster.store
        self.kubelets, self.jobs = Kubelets(store), JobController(store)
        self.heartbeats = FakeHeartbeats(store)
        self.disruption = DisruptionController(store)
        self.solved = Solved()
        self.fabric = nodes(spines, leaves, 4)
        self.metrics = SchedulerMetrics()
        self.tasks: list[asyncio.Task[Any]] = [
            asyncio.ensure_future(work)
            for work in (
                self.kubelets.run(),
                self.jobs.run(),
                self.heartbeats.run(),
                self.disruption.run(),
            )
        ]

    async def start(
        self,
        name: str = "a",
        formats: tuple[int, ...] = KNOWN,
        dry_run: DryRunMode = "never",
        answers: Interceptor | None = None,
    ) -> Scheduler:
        """Start a scheduler that knows these formats of records; the first one leads.

        What the API says to it goes through `answers`.
        """
        for body in self.fabric:
            try:
                await self.cluster.create(NODES, "", body)
            except AlreadyExists:
                break
        self.metrics = metrics = SchedulerMetrics()
        scheduler = Scheduler(
            self.cluster.client(name, *filter(None, [answers])),
            self.clock,
            self.solved.plan,
            SchedulerOptions(identity=name, dry_run=dry_run, formats=formats),
            lambda one: Reporter(one, metrics),
            planner=self.solved,
            prober=self.heartbeats,
        )
        self.tasks.append(asyncio.ensure_future(scheduler.run()))
        await self.clock.advance(1)
        return scheduler

    async def config(self, spec: str) -> None:
        """Create the config with that spec, in YAML."""
        text = f"apiVersion: {API_VERSION}\nkind: SchedulerConfig\nspec: {spec}\n"
        body: Body = {"metadata": {"name": CONFIG_MAP}, "data": {"config.yaml": text}}
        await self.cluster.create(CONFIG_MAPS, "kube-system", body)

    async def succeed(self, name: str, formats: tuple[int, ...] = KNOWN) -> Scheduler:
        """The scheduler that was started last dies, and another one leads from then on."""
        self.tasks.pop().cancel()
        scheduler = await self.start(name, formats)
        await self.clock.advance(FAILOVER)
        return scheduler

    async def stop(self) -> None:
        """End everything."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def submit(
        self,
        name: str,
        size: int,
        gpus: int = 8,
        priority: str = "",
        namespace: str = TEAM,
        **annotations: str,
    ) -> None:
        """Submit a Job, of a PriorityClass where one is named, and give it time to be bound."""
        await add_namespace(self.cluster, namespace)
        said = {
            f"topology.scheduler/{key.replace('_', '-')}": text for key, text in annotations.items()
        }
        body = job(name, size, gpus, **said)
        if priority:
            body["spec"]["template"]["spec"]["priorityClassName"] = priority
        await self.cluster.create(JOBS, namespace, body)
        await self.clock.advance(3)

    async def submit_hopeless(self, namespace: str, number: int, priority: str = "") -> None:
        """Pods that each want all cores of one node, where a pod of another scheduler has one."""
        bodies = [pod("own", 0, "default-scheduler"), *(pod(f"h{n}", 0) for n in range(number))]
        for body in bodies:
            cores = "1" if body is bodies[0] else "64"
            body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cores}}
            body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n-0-0-0"}
            if priority:
                body["spec"]["priorityClassName"] = priority
        bodies[0]["spec"]["nodeName"] = "n-0-0-0"
        await submit(self.cluster, namespace, bodies)

    async def classes(self, **values: int) -> None:
        """Make PriorityClasses; one whose name starts with `meek` preempts nobody."""
        for name, value in values.items():
            body: Body = {"metadata": {"name": name}, "value": value}
            if name.startswith("meek"):
                body["preemptionPolicy"] = "Never"
            await self.cluster.create(PRIORITY_CLASSES, "", body)

    def lose(self, *names: str) -> None:
        """These nodes lose power."""
        self.heartbeats.lose(names)
        self.kubelets.silent |= set(names)

    def restore(self, *names: str) -> None:
        """They are back."""
        self.heartbeats.restore(names)
        self.kubelets.silent -= set(names)

    async def pods(self, job_name: str, dying: bool = False, namespace: str = TEAM) -> list[Body]:
        """The live pods of a Job, or those that are to end."""
        items = (await self.cluster.list(PODS, namespace)).items
        return [
            body
            for body in items
            if body["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job_name
            and ("deletionTimestamp" in body["metadata"]) is dying
        ]

    async def places(self, job_name: str, namespace: str = TEAM) -> dict[int, str]:
        """Index -> node, for the live pods of a Job that are bound."""
        return {
            int(body["metadata"]["labels"][INDEX]): body["spec"]["nodeName"]
            for body in await self.pods(job_name, namespace=namespace)
            if body["spec"].get("nodeName")
        }

    async def leaves(self, job_name: str) -> list[int]:
        """The leaves on which live pods of a Job are bound."""
        return sorted({leaf_of(node) for node in (await self.places(job_name)).values()})

    async def uids(self, job_name: str) -> dict[int, str]:
        """Index -> UID, for the live pods of a Job."""
        return {
            int(body["metadata"]["labels"][INDEX]): body["metadata"]["uid"]
            for body in await self.pods(job_name)
        }

    async def open_relocations(self) -> list[str]:
        """The gangs of all relocations under way."""
        leases = (await self.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
        return sorted(read_relocation(body).gang.name for body in leases)

    async def reservations(self) -> list[str]:
        """The gangs that a place is reserved for."""
        found = (await self.cluster.list(LEASES, "kube-system", RELOCATIONS)).items
        records = map(read_relocation, found)
        return [str(one.gang) for one in records if one.purpose is Purpose.RESERVATION]

    async def reasons(self) -> set[str]:
        """The reasons of all events."""
        return {event["reason"] for event in (await self.cluster.list(EVENTS)).items}

    async def events(self, reason: str) -> list[Body]:
        """The events of one reason, in the order in which they came."""
        items = (await self.cluster.list(EVENTS)).items
        found = [event for event in items if event["reason"] == reason]
        return sorted(found, key=lambda event: str(event["eventTime"]))

    async def delete(self, name: str) -> None:
        """Delete a Job and its pods."""
        await self.cluster.delete(JOBS, Target(TEAM, name))
        for one in await self.pods(name):
            await self.cluster.delete(PODS, Target(TEAM, one["metadata"]["name"]))

    async def finish(self, name: str) -> None:
        """The pods of a Job come to their end."""
        self.kubelets.finish(TEAM, [pod["metadata"]["name"] for pod in await self.pods(name)])

    async def end(self, name: str) -> None:
        """A Job is done, and deleted with its pods."""
        await self.finish(name)
        await self.delete(name)

    async def dying(self, name: str) -> set[str]:
        """The UIDs of the pods of a Job that are to end."""
        return {body["metadata"]["uid"] for body in await self.pods(name, dying=True)}
