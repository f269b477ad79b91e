"""Puts the demo on: scheduler, cluster and story together, and the screen that shows them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from fourleaf.cli.demo.cluster import GPUS, LEAF_SIZE, Twin
from fourleaf.cli.demo.diary import Diary, Note
from fourleaf.cli.demo.final_check import breaches, counted
from fourleaf.cli.demo.observers import DemoObserver
from fourleaf.cli.demo.screen import Screen, line
from fourleaf.cli.demo.story import Script, Story
from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.scheduler import Scheduler, SchedulerOptions
from fourleaf.k8s_bridge.scheduling.async_solver import AsyncSolver
from fourleaf.model.plan import PlanStatus
from fourleaf.solver.process.client import SolverClient

REST_SECONDS = 15.0
"""Seconds that the scheduler may take to bring everything to rest."""


@dataclass(frozen=True, slots=True)
class Show:
    """Where the demo is shown."""

    console: Console
    glyphs: Glyphs

    def read_out(self, note: Note) -> None:
        """Print a note at once, where there is no screen that shows it."""
        if not self.console.is_terminal:
            for text in (line(note), *(Text(f"{'':21}{more}") for more in note.more)):
                self.console.print(text, soft_wrap=True)


async def play(script: Script, show: Show, client: SolverClient) -> list[str]:
    """Play the demo and tell what does not hold in the end. Closes `client`."""
    clock = SystemClock()
    twin = Twin(clock, script.nodes, script.seed)
    async with AsyncSolver(client) as solver:
        await twin.build()
        await solver.ready()
        diary = Diary(clock, show.read_out)
        diary.note("fabric", _fabric(twin))
        witnesses: list[DemoObserver] = []

        def witness(scheduler: SchedulerState) -> DemoObserver:
            witnesses.append(DemoObserver(scheduler, diary, show.glyphs))
            return witnesses[0]

        scheduler = Scheduler(
            twin.cluster.client("scheduler"),
            clock,
            solver.plan,
            SchedulerOptions(identity="demo"),
            witness,
        )
        screen = Screen(show.console, show.glyphs, scheduler, witnesses[0], diary)
        story = Story(script, twin, diary, witnesses[0].why)
        async with asyncio.TaskGroup() as tasks:
            others = [tasks.create_task(scheduler.run()), tasks.create_task(twin.kubelets.run())]
            with screen:
                watching = tasks.create_task(screen.run())
                await story.run()
                found = await _at_rest(twin)
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
                screen.draw()
            screen.keep()
            for task in others:
                task.cancel()
    _sum_up(show.console, twin, witnesses[0], found)
    return found


async def _at_rest(twin: Twin) -> list[str]:
    """What does not hold once nothing happens any more; pages are tidied now and then."""
    loop = asyncio.get_running_loop()
    until = loop.time() + REST_SECONDS
    while (found := breaches(twin)) and loop.time() < until:
        await asyncio.sleep(0.1)
    return found


def _fabric(twin: Twin) -> str:
    leaves, spines = len(twin.leaves), len({spine for spine, _ in twin.leaves})
    nodes = leaves * LEAF_SIZE
    return f"{nodes} nodes of {GPUS} GPUs, {leaves} leaves, {spines} spines"


def _sum_up(console: Console, twin: Twin, witness: DemoObserver, found: list[str]) -> None:
    statuses = witness.cycles_by_status
    proven = f"{statuses[PlanStatus.OPTIMAL]} of {statuses.total()} plans proven best"
    console.print()
    for text in found or (*counted(twin), proven):
        console.print(Text(f"  {text}"), soft_wrap=True)
    style = "bold red" if found else "bold green"
    breach = "breach" if len(found) == 1 else "breaches"
    console.print(Text(f"  {len(found)} {breach}", style=style))
