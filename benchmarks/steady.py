"""A whole scheduler with a backlog: `python -m benchmarks.steady [--nodes 1000] [--write]`.

A scheduler with its own solver process, in real time, on the twin of the API server, with the
config that ships. Gangs of 1 to 16 whole nodes fill a fabric of two GPU products, and as many more
wait as are asked for. *First*: the gangs that fill the fabric come at once; seconds until the first
of their pods is bound, and the last. *Ended*: a gang ends, and its pods go, until the scheduler is
at rest; what waits is made up again before the next one. *Idle*: nothing happens. *Config*: a limit
of the solver is edited. CPU is that of this process, twin and load included, and of the solver
process; of cycles it is what was used while one was under way. A *stall* is the longest time for
which the event loop stood still, as far as the machine let it run.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import structlog
import typer
import yaml

from benchmarks.results import markdown, write_tables
from benchmarks.tenants.measure import shipped_config
from benchmarks.throughput.cost import family
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, add_nodes, gang, node
from fourleaf.k8s_bridge.cluster.memory.client import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.reporting.audit import Audit
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.runtime.garbage import freeze_survivors
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.k8s_bridge.scheduling.async_solver import AsyncSolver
from fourleaf.k8s_bridge.scheduling.cycle import CycleReport
from fourleaf.model.config.spec import CONFIG_MAP

PRODUCT = "nvidia.com/gpu.product"
PRODUCTS = ("H100", "A100")
SIZES, SHARES = (1, 2, 4, 8, 16), (0.30, 0.25, 0.20, 0.15, 0.10)
FULL = 0.97
"""Of the nodes, for how many pods come at first."""

TEAM = "ml"
LOOK_SECONDS = 0.005
CALM_SECONDS = 1.5
"""Without a cycle, a binding or something to write, until the scheduler counts as at rest."""
PATIENCE_SECONDS = 300.0


def cpu() -> float:
    """Seconds of CPU of this process and of its children, to the microsecond."""
    total, me = time.process_time(), os.getpid()
    for pid in family(me):
        for task in Path(f"/proc/{pid}/task").iterdir() if pid != me else ():
            total += int((task / "schedstat").read_text().split()[0]) / 1e9
    return total


@dataclass(slots=True, eq=False)
class Gauges:
    """What is seen from outside, in seconds: stalls of the loop, bindings, the CPU of cycles."""

    stall: float = 0.0
    bound: list[float] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    began: float = 0.0

    async def run(self) -> None:
        """Look at the event loop until cancelled."""
        last = time.perf_counter()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = time.perf_counter()
            self.stall = max(self.stall, now - last - LOOK_SECONDS)
            last = now

    def anew(self) -> None:
        """Forget all that was seen."""
        self.stall = 0.0
        self.bound.clear()
        self.cycles.clear()
        self.began = cpu()

    async def before(self, request: ApiRequest) -> None:
        """Let everything in."""

    async def after(self, request: ApiRequest, answer: object) -> None:  # noqa: ARG002
        """Note when a pod was bound."""
        if request.subresource == "binding":
            self.bound.append(time.perf_counter())


class Watched(Reporter):
    """The reporter of a scheduler, which has the CPU of each cycle noted, reports included."""

    gauges: Gauges
    under_way: float | None = None

    def cycle_begins(self) -> None:
        """A cycle starts."""
        self.under_way = cpu()
        super().cycle_begins()

    def cycle(self, report: CycleReport) -> None:
        """A cycle has ended."""
        super().cycle(report)
        self.gauges.cycles.append(cpu() - (self.under_way or 0.0))
        self.under_way = None


@dataclass(slots=True, eq=False)
class Stage:
    """A scheduler on the twin, its load, and what is seen of it."""

    cluster: MemoryCluster
    scheduler: Scheduler
    reporter: Watched
    gauges: Gauges
    dice: random.Random
    gangs: dict[str, int] = field(default_factory=dict)
    number: int = 0

    def comes(self) -> int:
        """Another gang comes; how many pods it has."""
        name, size = f"g-{self.number}", self.dice.choices(SIZES, SHARES)[0]
        product = self.dice.choice((None, None, *PRODUCTS))
        for body in gang(name, size):
            if product:
                body["spec"]["nodeSelector"] = {PRODUCT: product}
            self.cluster.store.create(PODS, TEAM, body)
        self.number, self.gangs[name] = self.number + 1, size
        return size

    def running(self) -> list[str]:
        """The gangs that stand."""
        pods = (record.body["metadata"]["name"] for record in self.cluster.store.bound())
        bound = {pod.rpartition("-")[0] for pod in pods}
        return [name for name in self.gangs if name in bound]

    def ends(self) -> None:
        """One that runs ends, and its pods go."""
        name = self.dice.choice(self.running())
        for i in range(self.gangs.pop(name)):
            pod = self.cluster.store.find(PODS, Target(TEAM, f"{name}-{i}"))
            self.cluster.store.remove(pod)

    async def wait_for(self, gangs: int) -> None:
        """Let gangs come until so many wait, and rest."""
        for _ in range(gangs - len(self.gangs) + len(self.running())):
            self.comes()
            await asyncio.sleep(0)
        await self.rest()

    def edit(self) -> None:
        """Edit a limit of the solver in the config."""
        record = self.cluster.store.find(CONFIG_MAPS, Target("kube-system", CONFIG_MAP))
        body = record.whole()
        config = yaml.safe_load(body["data"]["config.yaml"])
        config["spec"]["solver"] = {"timeLimitSeconds": 4}
        body["data"]["config.yaml"] = yaml.safe_dump(config)
        self.cluster.store.update(CONFIG_MAPS, record, body, "")

    async def rest(self) -> None:
        """Wait until nothing has happened for a while."""
        cache, recorder = self.scheduler.cache, self.reporter.recorder
        until = time.perf_counter() + PATIENCE_SECONDS
        before, since = (-1, -1), time.perf_counter()
        while time.perf_counter() < until:
            now = len(self.gauges.cycles), len(self.gauges.bound)
            busy = self.reporter.under_way is not None or cache.changed.is_set()
            if now != before or busy or recorder.waiting:
                before, since = now, time.perf_counter()
            elif time.perf_counter() - since > CALM_SECONDS:
                return
            await asyncio.sleep(LOOK_SECONDS)
        raise TimeoutError(f"the scheduler came to no rest in {PATIENCE_SECONDS:g} s")


@asynccontextmanager
async def stage(size: int, seed: int) -> AsyncIterator[Stage]:
    """Start a scheduler on `size` empty nodes; it leads."""
    clock, gauges = SystemClock(), Gauges()
    cluster = MemoryCluster(clock=clock)
    await add_nodes(cluster, fabric(size))
    await add_namespace(cluster, TEAM)
    await cluster.create(CONFIG_MAPS, "kube-system", shipped_config())

    made: list[Watched] = []

    def reporter(scheduler: SchedulerState) -> Watched:
        watched = Watched(scheduler, SchedulerMetrics(), Audit(lambda _: None, clock))
        watched.gauges = gauges
        made.append(watched)
        return watched

    async with AsyncSolver() as solver:
        await solver.ready()
        scheduler = Scheduler(
            cluster.client("scheduler", gauges),
            clock,
            solver.plan,
            SchedulerOptions(identity="measured", dry_run="never"),
            reporter,
            planner=solver,
        )
        tasks = [asyncio.create_task(one.run()) for one in (gauges, scheduler)]
        try:
            while not scheduler.leading:
                await asyncio.sleep(LOOK_SECONDS)
            dice = random.Random(seed)  # noqa: S311 - a load, not a secret
            yield Stage(cluster, scheduler, made[0], gauges, dice)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def fabric(size: int) -> list[Body]:
    """Leaves of four nodes, spines of eight leaves, the products by spine."""
    return [
        node(f"n-{i}", f"leaf-{i // 4}", f"spine-{i // 32}", 8, **{PRODUCT: PRODUCTS[i // 32 % 2]})
        for i in range(size)
    ]


async def measured(size: int, waiting: int, turns: int, idle: float, seed: int) -> list[list[str]]:
    """One row a case."""
    rows: list[list[str]] = []

    def row(case: str, cycles: list[float], used: float, more: str) -> None:
        each = [f"{1000 * one:,.0f}" for one in (sum(cycles), used, gauges.stall)]
        rows.append([case, str(len(cycles)), *each, more])

    async with stage(size, seed) as one:
        gauges, pods = one.gauges, 0
        while pods < FULL * size:
            pods += one.comes()
        gauges.anew()
        began = time.perf_counter()
        await one.rest()
        first, last = gauges.bound[0] - began, gauges.bound[-1] - began
        row(
            "first", gauges.cycles, cpu() - gauges.began, f"bound after {first:.2f} to {last:.2f} s"
        )
        await one.wait_for(waiting)
        seen: list[tuple[list[float], float, float]] = []
        for _ in range(turns):
            gauges.anew()
            one.ends()
            await one.rest()
            seen.append((list(gauges.cycles), cpu() - gauges.began, gauges.stall))
            await one.wait_for(waiting)
        cycles, used, gauges.stall = sorted(seen, key=lambda turn: sum(turn[0]))[len(seen) // 2]
        firsts = 1000 * statistics.median(turn[0][0] for turn in seen)
        row("ended", cycles, used, f"the first cycle {firsts:,.0f} ms; medians of {turns}")
        gauges.anew()
        await asyncio.sleep(idle)
        used = cpu() - gauges.began
        row("idle", gauges.cycles, used, f"{100 * used / idle:.1f} % of a core")
        gauges.anew()
        one.edit()
        await one.rest()
        row("config", gauges.cycles, cpu() - gauges.began, "")
    return rows


def main(
    size: Annotated[int, typer.Option("--nodes", help="Nodes, of 8 GPUs.")] = 1000,
    waiting: Annotated[int, typer.Option(help="Gangs that wait.")] = 500,
    turns: Annotated[int, typer.Option(min=1, help="Gangs that end.")] = 5,
    idle: Annotated[float, typer.Option(help="Seconds without anything.")] = 10.0,
    seed: Annotated[int, typer.Option(help="What is drawn.")] = 1,
    write: Annotated[bool, typer.Option(help="Replace the section of RESULTS.md.")] = False,
) -> None:
    """Measure, print, and write where wanted."""
    freeze_survivors()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    rows = asyncio.run(measured(size, waiting, turns, idle, seed))
    header = ["case", "cycles", "CPU ms of cycles", "CPU ms in all", "stall ms", ""]
    table = markdown(header, rows)
    typer.echo(table)
    if write:
        text = f"{size:,} nodes; {waiting:,} gangs wait.\n\n{(__doc__ or '').split(chr(10), 2)[2]}"
        write_tables("steady", "A backlog", f"{text.strip()}\n\n{table}")


if __name__ == "__main__":
    typer.run(main)
