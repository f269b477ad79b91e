"""`python -m benchmarks.openb [--quick] [--seeds N] [--cycle N] [--at-once N] [--write | --keep]`.

Pods of openb arrive on its 1,213 nodes until 130 % of all GPUs are asked for, as in FGD
(Weng et al., ATC 2023, section 6.2). Ends with status 1 where a placement was impossible.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Annotated

import typer

from benchmarks.data import lacking
from benchmarks.openb.figures import columns, renewed, table, verdict
from benchmarks.openb.load import FILES, WHOLE, arrivals, machines, pods
from benchmarks.openb.prices import Prices, prices
from benchmarks.openb.replay import POLICIES, Ground, Outcome, replay
from benchmarks.results import amend_tables, write_tables

LOAD = 1.3
"""GPUs asked for in the end, as a share of all."""
FINE = 100
"""Thousandths of a core in a step of the bounds."""
TITLE = "openb: how full shared GPUs become"
NOTE = """The {nodes:,} nodes and {gpus:,} GPUs of openb; its {pods:,} pods in random order, then \
more drawn from them with replacement, until {load:.0f} % of all GPUs are asked for. Shares of a \
GPU lie on one device; CPU, memory and GPU models count; no pod leaves, and a pod without room is \
refused. *Allocated* are the GPUs held in the end, as a share of all: mean, and least to most of \
{seeds} seeds; *at 100 %* the same when as many GPUs had been asked for as there are. Every \
policy knows the mix of the trace and nothing of the order. Ours prices what a seat leaves behind \
in phantoms, pods of the mix that would still fit together; in batches, CP-SAT seats the pods of \
{cycle} arrivals at once, first who, then where. Every placement was checked anew from the seats \
alone. To keep refused pods in the queue changes nothing here: room only ever becomes less. \
Seconds are wall clock of one run, {at_once} at once, load when it began {busy:.1f}."""
BOUNDS = """What limits it: by a bound from linear programming over packings of nodes, which \
knows the whole mix beforehand, no placement that refuses no pod without GPUs holds more than \
{full:.2f} % of the GPUs when 100 % are asked for, and {end:.2f} % when {load:.0f} % are. Most \
nodes have 12 cores a GPU, and pods that ask for more leave GPUs without CPU."""


def main(
    quick: Annotated[bool, typer.Option(help="Every 40th node, one seed.")] = False,
    seeds: Annotated[int, typer.Option(min=1, help="Orders of arrival.")] = 5,
    cycle: Annotated[int, typer.Option(min=1, help="Arrivals in a cycle.")] = 100,
    policy: Annotated[list[str] | None, typer.Option(help="Policies; all without it.")] = None,
    at_once: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 1,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
    keep: Annotated[
        bool, typer.Option(help="Measure nothing; write the published rows anew.")
    ] = False,
) -> None:
    """Run every policy on every seed and print the table."""
    if keep:
        amend_tables("openb", renewed)
        return
    if lacking(FILES, "openb", TITLE, write):
        return
    busy = os.getloadavg()[0]
    nodes, trace = machines()[:: 40 if quick else 1], pods()
    ground = Ground(tuple(nodes), tuple(trace), prices(trace, nodes, load=1.0))
    cases = [(name, seed) for name in policy or POLICIES for seed in range(1 if quick else seeds)]
    outcomes: list[Outcome] = []
    for outcome in _all(ground, cases, cycle, at_once):
        outcomes.append(outcome)
        print(outcome)
    note = NOTE.format(
        nodes=len(nodes), gpus=sum(one.gpus for one in nodes), pods=len(trace), load=100 * LOAD,
        seeds=1 if quick else seeds, cycle=cycle, at_once=at_once, busy=busy,
    )  # fmt: skip
    rows = table({name: columns(name, outcomes) for name in policy or POLICIES})
    full, end = (100 * _bound(ground, load).most_allocated for load in (1.0, LOAD))
    # What is published is about all nodes.
    met = [] if quick else [verdict(outcomes)]
    parts = [note, rows, *met, BOUNDS.format(full=full, end=end, load=100 * LOAD)]
    print(*parts[1:], sep="\n\n")
    if write:
        write_tables("openb", TITLE, "\n\n".join(parts))
    if any(one.breaches for one in outcomes):
        raise SystemExit(1)


def _bound(ground: Ground, load: float) -> Prices:
    return prices(ground.trace, ground.machines, load, step=FINE, generous=True)


def _all(
    ground: Ground, cases: Sequence[tuple[str, int]], cycle: int, at_once: int
) -> Iterator[Outcome]:
    run = partial(_run, ground, cycle)
    if at_once == 1:
        yield from map(run, cases)
        return
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
        yield from pool.map(run, cases)


def _run(ground: Ground, cycle: int, case: tuple[str, int]) -> Outcome:
    name, seed = case
    capacity = WHOLE * sum(one.gpus for one in ground.machines)
    return replay(name, ground, arrivals(ground.trace, capacity, LOAD, seed), seed, cycle)[0]


if __name__ == "__main__":
    typer.run(main)
