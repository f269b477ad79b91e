"""`python -m benchmarks.failures [--quick] [--at-once N] [--kept FILE] [--write]`.

The same failures under three ways to recover, at the rate of a production cluster and at ten
times that.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.replays import NO_DATA, Case, Outcome, left_out, ready, run_all, with_slack
from benchmarks.results import markdown, write_section
from simulator.measures.tables import duration
from simulator.options import Backfill, Failures, Options, Recovery

RATES = (6.5, 65.0)
"""Per 1000 node-days: RSC-1 of Kokolis et al., HPCA 2025, and ten times that."""
LOAD = 80
PERIODS = {"kalos": 10, "philly": 60}
WAYS = (
    ("repair, others may move", Recovery.REPAIR, True),
    ("repair", Recovery.REPAIR, False),
    ("greedy patching", Recovery.PATCH, False),
    ("whole restart", Recovery.RESTART, False),
)
HEADER = (
    "trace", "failures per 1000 node-days", "recovery", "failures", "gangs hit", "kept alive",
    "started over", "moves", "GPU-hours lost", "of them work", "completion mean",
    "completion p95", "unproven",
)  # fmt: skip
NOTE = """The gangs of the section on traces at {load} % load on the Lingjun fabric, `windowSlack` \
1, placed by CP-SAT, with the same failures for every row of a rate: nodes fail at random until \
the last arrival and are away for a day on average. A gang that loses a node, or of which a pod \
moves, goes back to its last checkpoint, one an hour, and stands still for 5 minutes. GPU-hours \
lost are work done again plus standstill; a gang that starts over holds nothing while it waits, \
which shows in its completion."""


def main(
    quick: Annotated[bool, typer.Option(help="Kalos at the higher rate alone.")] = False,
    trace: Annotated[list[str] | None, typer.Option(help="kalos, philly; both without it.")] = None,
    seed: Annotated[int, typer.Option(help="Decides which nodes fail when.")] = 0,
    at_once: Annotated[int, typer.Option(min=1, help="Replays at a time.")] = 1,
    kept: Annotated[
        Path | None, typer.Option(help="A file of what was found before, to go on from.")
    ] = None,
    replay: Annotated[
        bool, typer.Option(help="Replay what the file has not; else leave it out.")
    ] = True,
    write: Annotated[bool, typer.Option(help="Write RESULTS.md.")] = False,
) -> None:
    """Replay every case and print the table."""
    if not ready():
        print(NO_DATA)
        if write:
            write_section("failures", "Failures", NO_DATA)
        return
    note = NOTE.format(load=LOAD)
    names = [
        (way, Case(one, LOAD, _options(one, rate, recovery, movable, seed)))
        for one in trace or (["kalos"] if quick else PERIODS)
        for rate in (RATES[-1:] if quick else RATES)
        for way, recovery, movable in WAYS
    ]
    outcomes, lines = [], []
    for outcome in run_all([case for _, case in names], at_once, kept, replay):
        outcomes.append(outcome)
        way = next(way for way, case in names if case == outcome.case)
        lines.append(_figures(way, outcome))
        table = Table(*HEADER)
        table.add_row(*lines[-1])
        Console(width=180).print(table)
    if write:
        rated = [(f"{way} at {case.options.failures.rate:g}", case) for way, case in names]
        table_of = markdown(list(HEADER), lines)
        body = "\n\n".join([note, table_of, *left_out(rated, outcomes)])
        write_section("failures", "Failures: repair, patching, restart", body)


def _options(trace: str, rate: float, recovery: Recovery, movable: bool, seed: int) -> Options:
    failures = Failures(rate, recovery=recovery, movable=movable)
    told = Options(period=PERIODS[trace], seed=seed, backfill=Backfill(enabled=True))
    return with_slack(replace(told, failures=failures), 1)


def _figures(way: str, outcome: Outcome) -> list[str]:
    one, counts = outcome.summary, outcome.counts
    return [
        outcome.case.trace,
        f"{outcome.case.options.failures.rate:g}",
        way,
        str(counts.failures),
        str(counts.hit),
        str(counts.kept),
        str(one.restarts),
        str(one.moves),
        f"{one.lost + one.stalled:,.0f}",
        f"{one.lost:,.0f}",
        duration(one.completion_mean),
        duration(one.completion_p95),
        str(counts.unproven),
    ]


if __name__ == "__main__":
    typer.run(main)
