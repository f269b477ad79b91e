"""How long a call takes beyond its time limit, for each fault of the solver process.

`python -m benchmarks.worker [--repeats N] [--write]`. The faults are those of the tests; the
snapshot has 10,000 nodes and as many running pods, so that what is sent and checked has its
real size. The parent's steps are the stand-ins of the tests: this measures the process and
its client. The last row of these is a call that nothing disturbs. The rows after it have the
product's own steps: what is placed, and for how many of the others a reason was found in time.
Ends with status 1 where a call was late or, with the product's own steps, placed nobody.
"""

from __future__ import annotations

import logging
import time

import structlog
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.results import markdown, write_tables
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.process.guarded_call import own_steps
from tests.solver.process.faulty_worker import FAULTS
from tests.solver.process.stand_ins import steps

LIMIT = 1.0
ALLOWED = 0.2
OWN_LIMITS = (1.0, 5.0)
OWN_FAULTS = ("exits", "spins", "illegal", "finds-nothing")
LEAVES, NODES_PER_LEAF = 2500, 4
OFFER = Resources(gpus=8, cpu=64000, memory=2**38, pods=110)


def fabric() -> Fabric:
    """Build 10,000 nodes on leaves of four, eight leaves to a spine."""
    leaves = []
    for i in range(LEAVES):
        leaf, spine = f"leaf-{i}", f"spine-{i // 8}"
        nodes = [Node(f"{leaf}-{n}", leaf, spine, OFFER) for n in range(NODES_PER_LEAF)]
        leaves.append(Leaf(leaf, spine, tuple(nodes)))
    return Fabric(tuple(leaves))


def snapshot(on: Fabric, fault: str, limit: float) -> Snapshot:
    """Let 1000 gangs wait, the first of which is named for `fault`."""
    small = Resources(cpu=1000, memory=2**30)
    running = tuple(RunningPod("kube-system", f"agent-{name}", name, small) for name in on.nodes)
    names = (fault, *(f"g{i}" for i in range(999)))
    gangs = tuple(
        Gang(GangKey("ml", name), (Role((f"{name}-0",), Resources(gpus=8)),), priority=-i)
        for i, name in enumerate(names)
    )
    config = SchedulerConfig.model_validate(
        {"spec": {"solver": {"timeLimitSeconds": limit, "memoryLimitMiB": 512}}}
    )
    return Snapshot(on, running, gangs, config, time.time())


def main(repeats: int = 3, write: bool = False) -> None:
    """Measure every fault `repeats` times, print the table, and write it where asked."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    header = ["fault", "status", "median s", "worst s", "overrun ms", "placed", "told", "why"]
    rows = []
    bad = False
    on = fabric()

    def add(name: str, seconds: list[float], last: Plan, limit: float) -> None:
        nonlocal bad
        overrun = seconds[-1] - limit
        bad = bad or overrun > ALLOWED or not last.placements
        told = sum(one.reason.kind is not ReasonKind.NOT_PROVEN for one in last.waiting)
        rows.append(
            [
                name,
                str(last.status),
                f"{seconds[len(seconds) // 2]:.3f}",
                f"{seconds[-1]:.3f}",
                f"{1000 * max(0.0, overrun):.0f}",
                str(len(last.placements)),
                f"{told} of {len(last.waiting)}",
                last.note[:60],
            ]
        )

    with SolverClient("tests.solver.process.faulty_worker", steps()) as client:
        for fault in (*sorted(FAULTS), "illegal", "misses-one", "finds-nothing", "none"):
            add(fault, *measure(client, on, fault, repeats), LIMIT)
    for limit in OWN_LIMITS:
        for fault in OWN_FAULTS:
            seconds, last = measure_own(on, fault, limit, repeats)
            add(f"{fault}, own steps, {limit:g} s", seconds, last, limit)
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    Console(width=140).print(table)
    if write:
        note = (
            f"Limit {LIMIT:g} s unless stated, at most {1000 * ALLOWED:.0f} ms more; "
            "10,000 nodes, 1000 gangs, of which a batch takes 500. `told`: waiting gangs that "
            "have a reason other than that time was up."
        )
        write_tables(
            "worker", "Faults of the solver process", f"{note}\n\n{markdown(header, rows)}"
        )
    raise typer.Exit(int(bad))


def measure(client: SolverClient, on: Fabric, fault: str, repeats: int) -> tuple[list[float], Plan]:
    """Take the seconds of each call with `fault`, sorted, and the last of the plans."""
    seconds = []
    for _ in range(repeats):
        while client.plan(snapshot(on, "warm-up", 20.0)).status is not PlanStatus.OPTIMAL:
            time.sleep(0.05)
        faulty = snapshot(on, fault, LIMIT)
        began = time.monotonic()
        last = client.plan(faulty)
        seconds.append(time.monotonic() - began)
    return sorted(seconds), last


def measure_own(on: Fabric, fault: str, limit: float, repeats: int) -> tuple[list[float], Plan]:
    """Take the same with the product's own greedy, validator and reasons."""
    seconds = []
    for _ in range(repeats):
        with SolverClient("tests.solver.process.faulty_worker", own_steps()) as client:
            while not client.wait_until_ready():
                time.sleep(0.05)
            faulty = snapshot(on, fault, limit)
            began = time.monotonic()
            last = client.plan(faulty)
            seconds.append(time.monotonic() - began)
    return sorted(seconds), last


if __name__ == "__main__":
    typer.run(main)
