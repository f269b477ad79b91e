"""Half an hour of churn at 1000 nodes: `python -m benchmarks.churn [--minutes 30] [--write]`.

Two replicas with the shipped rights; gangs of 1 to 8 pods come at a steady rate, run for 5 to
60 seconds on kwok's kubelets and are deleted; every two seconds a node is cordoned, and one that
becomes empty is deleted and made anew. One gang in twenty is too large for now: it wants all nodes
of a leaf of which one is cordoned, and is deleted while it waits. Figures of the second quarter of
the run stand beside those of the last one. Ends with status 1 where something grows, a law is
broken, or no gang was deleted while it waited.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.churn.gauges import Sample, Trend, look, trends
from benchmarks.churn.load import Churn
from benchmarks.results import markdown, write_tables
from benchmarks.throughput.caller import PODS, Caller
from benchmarks.throughput.contenders import plane
from benchmarks.throughput.cost import cpu_seconds, family
from benchmarks.throughput.judge import judge
from benchmarks.throughput.load import NAMESPACE, fabric
from tests.controlplane.fleet import create_nodes
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches
from tests.e2e.replica import Replica, grant

NODES = 1000
EVERY = 10.0
"""Seconds between two looks."""
REST = 60.0
"""Seconds in which everything has to come to rest once nothing comes any more."""


@dataclass(slots=True)
class Run:
    """What was seen: samples, breaches, CPU seconds of the leader, and what the load came to."""

    samples: list[Sample] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)
    gangs: int = 0
    cordoned: int = 0
    replaced: int = 0
    too_large: int = 0
    cancelled: int = 0
    cpu: float = 0.0


@dataclass(frozen=True, slots=True)
class Stage:
    """The control plane, its nodes, and the two replicas."""

    control: ControlPlane
    nodes: list[dict[str, Any]]
    leader: Replica
    standby: Replica


@contextmanager
def stage() -> Iterator[Stage]:
    """Start everything; one replica leads."""
    nodes = fabric(NODES)
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        asyncio.run(create_nodes(control.kubeconfig(), nodes))
        control.kwok()
        grant(control, "scheduler-a", "scheduler-b")
        with control.api() as api:
            api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        with (
            Replica(control, "scheduler-a", Path(folder)) as a,
            Replica(control, "scheduler-b", Path(folder)) as b,
        ):
            eventually(lambda: a.leads or b.leads, "a replica leads")
            yield Stage(control, nodes, a, b) if a.leads else Stage(control, nodes, b, a)


async def churn(stage: Stage, minutes: float, rate: float, seed: int) -> Run:
    """Let the load run, look at everything meanwhile, and once more when all has gone."""
    run, pids = Run(), family(stage.leader.pid or 0)
    async with Caller(stage.control.kubeconfig()) as caller:
        load = Churn(caller, stage.nodes, rate, seed)
        used = cpu_seconds(pids)
        looking = asyncio.create_task(_look(stage, run, caller, load, minutes * 60))
        looking.add_done_callback(lambda _: setattr(run, "cpu", cpu_seconds(pids) - used))
        await load.run(minutes * 60)
        await looking
    run.gangs, run.cordoned, run.replaced = load.came, load.cordoned, load.replaced
    run.too_large, run.cancelled = load.too_large, load.cancelled
    run.breaches += await _at_rest(stage.control)
    if not run.cancelled:
        run.breaches.append("no gang was deleted while it waited")
    if not stage.leader.leads:
        run.breaches.append("the replica that led at the start leads no more")
    return run


async def _look(stage: Stage, run: Run, caller: Caller, load: Churn, seconds: float) -> None:
    """Take samples, and judge what is bound, for as long as gangs come."""
    began = time.perf_counter()
    with stage.control.api() as api:
        while (at := time.perf_counter() - began) < seconds:
            text = await caller.text("/metrics")
            sample = await asyncio.to_thread(
                look, at, api, text, stage.leader, stage.standby, load.came
            )
            run.samples.append(sample)
            listed = await caller.request("GET", PODS)
            verdict = judge(stage.nodes, listed["items"], ())
            run.breaches += [*verdict.shared_devices, *verdict.oversubscribed]
            await asyncio.sleep(EVERY)


async def _at_rest(control: ControlPlane) -> list[str]:
    """What is still wrong once everything had time to come to rest."""
    with control.api() as api:
        until = time.perf_counter() + REST
        while (found := await asyncio.to_thread(breaches, api)) and time.perf_counter() < until:
            await asyncio.sleep(1)
    return found


def main(
    minutes: Annotated[float, typer.Option(min=2, help="How long gangs come.")] = 30.0,
    rate: Annotated[float, typer.Option(help="Gangs a second.")] = 8.0,
    seed: Annotated[int, typer.Option(help="What is drawn.")] = 1,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
) -> None:
    """Run the churn, and print what has become of each figure."""
    with stage() as started:
        run = asyncio.run(churn(started, minutes, rate, seed))
    found = trends(run.samples)
    table = markdown(["figure", "second quarter", "last quarter", "flat"], list(map(_row, found)))
    said = (
        f"{run.gangs} gangs in {minutes:g} minutes, {run.too_large} of them too large for now, of "
        f"which {run.cancelled} were deleted while they waited; {run.cordoned} nodes cordoned and "
        f"{run.replaced} replaced, {len(run.samples)} looks; the leader with its child used "
        f"{run.cpu / minutes / 60:.2f} cores; breaches: {len(run.breaches)}"
    )
    print(table, said, sep="\n\n")
    for line in run.breaches:
        print(f"breach: {line}")
    if write:
        intro = f"{(__doc__ or '').split(chr(10), 2)[2].strip()}"
        write_tables("churn", "Half an hour of churn", f"{intro}\n\n{said}\n\n{table}")
    if run.breaches or not all(one.flat for one in found):
        raise SystemExit(1)


def _row(one: Trend) -> list[str]:
    return [one.name, f"{one.early:.1f}", f"{one.late:.1f}", "yes" if one.flat else "no"]


if __name__ == "__main__":
    typer.run(main)
