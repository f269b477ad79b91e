"""A long queue: `python -m benchmarks.queue [--gangs 10000] [--nodes 5000] [--write]`.

Gangs of two whole nodes wait on a fabric of which a small pod holds half of every node, beside
eight pods without GPUs a node. One cycle after the other, with the real cache and the real solver
process; what is committed goes nowhere. *Looked at*: until every gang has been planned once.
*Nothing*: a cycle in which nothing has changed. *Came*: one pod came that fits beside the others.
*Ended*: one pod without GPUs has ended. Milliseconds of whole cycles; medians of some. *Explained*:
each gang that waits is told anew why, all at once, beside the plan that is made without a search.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from typing import Annotated

import typer

from benchmarks.results import markdown, write_tables
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, nodes, pod
from fourleaf.k8s_bridge.cluster.protocol import Body, Listing
from fourleaf.k8s_bridge.ledger.commit import CommitOutcome, CommitRequest
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.k8s_bridge.scheduling.cycle import Cycle, CycleReport
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.k8s_bridge.scheduling.silent_nodes import SilentNodes
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.process.client import SolverClient

TURNS = 9
"""Cycles of each kind."""

GOALS_MS = {"nothing": 100.0, "came": 500.0, "ended": 500.0}


class Untried:
    """Bindings that are tried out: none."""

    def pending(self) -> frozenset[GangKey]:
        """The gangs that wait for an answer."""
        return frozenset()


class Nowhere:
    """Takes every plan, and commits nothing."""

    trials = Untried()

    async def commit(self, _plan: Sequence[CommitRequest], _lost: object = None) -> CommitOutcome:
        """Nothing took, nothing was refused."""
        return CommitOutcome((), ())


class Silent:
    """Observes cycles, and says nothing."""

    def cycle_begins(self) -> None:
        """A cycle starts."""

    def committing(self, plan: tuple[CommitRequest, ...], snapshot: Snapshot) -> None:
        """Gangs are about to be committed."""

    def cycle(self, report: CycleReport) -> None:
        """A cycle has ended."""


class Queue:
    """A cluster with a queue, and cycles over it."""

    def __init__(self, client: SolverClient, gangs: int, size: int) -> None:
        self.clock = SystemClock()
        self.cache = ClusterCache(self.clock)
        self.solved = 0
        self._version = 0
        self._client = client
        fabric = [self._made(body) for body in nodes(10, size // 40, 4)]
        names = [body["metadata"]["name"] for body in fabric]
        self.cache.take_all(NODES, Listing(fabric, str(self._version)))
        self.small = [
            self._pod(pod(f"small-{i}", 0, scheduler="default-scheduler"), names[i % size])
            for i in range(8 * size)
        ]
        half = [self._pod(gang(f"half-{i}", 1, 4)[0], name) for i, name in enumerate(names)]
        waits = [self._pod(body) for i in range(gangs) for body in gang(f"g-{i}", 2, 8)]
        self.cache.take_all(PODS, Listing([*self.small, *half, *waits], str(self._version)))
        self.cycle = Cycle(
            self.cache,
            Ledger(),
            Nowhere(),  # type: ignore[arg-type]
            self._solve,
            Silent(),
            self.clock,
            ApiBackoff(self.clock),
            SilentNodes(self.clock),
        )

    def comes(self, number: int) -> None:
        """A pod of four GPUs comes, which fits on any node."""
        self.cache.take(PODS, self._pod(gang(f"new-{number}", 1, 4)[0]))

    def ends(self, number: int) -> None:
        """A pod without GPUs has ended."""
        body = self.small[number]
        self._version += 1
        metadata = {**body["metadata"], "resourceVersion": str(self._version)}
        self.cache.take(PODS, {**body, "metadata": metadata, "status": {"phase": "Succeeded"}})

    async def turn(self) -> tuple[float, bool]:
        """Run a cycle; its milliseconds, and whether gangs are left out."""
        began = self.clock.monotonic()
        report = await self.cycle.run()
        return 1000.0 * (self.clock.monotonic() - began), report.left_out

    def explained(self) -> tuple[float, int]:
        """Explain all gangs that wait in one plan; milliseconds, and how many there are."""
        snapshot = self.cache.reading().snapshot
        plan = greedy_plan(snapshot)
        began = self.clock.monotonic()
        told = explain(snapshot, plan)
        return 1000.0 * (self.clock.monotonic() - began), len(told.waiting)

    async def _solve(self, snapshot: Snapshot) -> Plan:
        self.solved += 1
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, self._client.plan, snapshot)

    def _pod(self, body: Body, node: str = "") -> Body:
        self._made(body)["metadata"]["namespace"] = "ml"
        if node:
            body["spec"]["nodeName"] = node
        return body | {"status": {"phase": "Running" if node else "Pending"}}

    def _made(self, body: Body) -> Body:
        self._version += 1
        body["metadata"].update(
            uid=f"uid-{self._version}",
            resourceVersion=str(self._version),
            creationTimestamp="2026-01-01T00:00:00Z",
        )
        return body


async def measured(client: SolverClient, gangs: int, size: int) -> list[list[str]]:
    """One row a case."""
    queue = Queue(client, gangs, size)
    rows = []
    first, left_out = await queue.turn()
    all_of_them = first
    while left_out:
        more, left_out = await queue.turn()
        all_of_them += more
    cycles = queue.solved
    rows.append(["looked at", str(cycles), f"{all_of_them:,.0f}", f"{first:,.0f}", "", ""])
    for name, goal in GOALS_MS.items():
        times = []
        before = queue.solved
        for number in range(TURNS):
            if name == "came":
                queue.comes(number)
            elif name == "ended":
                queue.ends(number)
            took, _ = await queue.turn()
            times.append(took)
        median = statistics.median(times)
        met = "yes" if median < goal else "no"
        solved = str(queue.solved - before)
        rows.append([name, solved, f"{median:,.0f}", f"{max(times):,.0f}", f"< {goal:g} ms", met])
    explained, waiting = queue.explained()
    rows.append([f"explained: {waiting:,} gangs", "0", f"{explained:,.0f}", "", "", ""])
    return rows


def main(
    gangs: Annotated[int, typer.Option(help="Gangs of two nodes that wait.")] = 10_000,
    size: Annotated[int, typer.Option("--nodes", help="Nodes, of 8 GPUs.")] = 5_000,
    write: Annotated[bool, typer.Option(help="Replace the section of RESULTS.md.")] = False,
) -> None:
    """Measure, print, and write where wanted."""
    client = SolverClient()
    client.start()
    client.wait_until_ready()
    try:
        rows = asyncio.run(measured(client, gangs, size))
    finally:
        client.close()
    header = ["case", "solved", "ms", "longest ms", "goal", "met"]
    table = markdown(header, rows)
    typer.echo(table)
    if write:
        text = f"{gangs:,} gangs of two nodes wait on {size:,} nodes.\n\n{table}"
        write_tables("queue", "A long queue", text)


if __name__ == "__main__":
    typer.run(main)
