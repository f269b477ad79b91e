"""`python -m benchmarks.failures [--quick] [--seeds N] [--at-once N] [--kept FILE] [--write]`.

The same failures under three ways to recover, at the rate of a production cluster and at ten
times that. Ends with status 1 where a plan, repair or patch broke a law.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.data import lacking
from benchmarks.failures.figures import HEADER, Figures, Key, columns, gathered, why
from benchmarks.replays import (
    FILES,
    AnyCode,
    AtOnce,
    Case,
    KeptFile,
    Outcome,
    ReplayMissing,
    left_out,
    run_all,
    with_slack,
)
from benchmarks.results import markdown, write_tables
from fourleaf.simulator.options import BackfillOptions, FailureModel, Recovery, ReplayOptions

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
TITLE = "Failures: repair, patching, restart"
NOTE = """The gangs of the section on traces at {load} % load on the Lingjun fabric, `windowSlack` \
1, placed by CP-SAT, with the same failures for every row of a rate: nodes fail at random until \
the last arrival and are away for a day on average. A gang that loses a node, or of which a pod \
moves, goes back to its last checkpoint, one an hour, and stands still for 5 minutes. GPU-hours \
lost are work done again, standstill, and what gangs that start over wait from the failure to \
their next start, GPUs times time. Means over `seeds`, for each of which other nodes fail."""


def main(
    quick: Annotated[bool, typer.Option(help="Kalos at the higher rate alone.")] = False,
    trace: Annotated[list[str] | None, typer.Option(help="kalos, philly; both without it.")] = None,
    seed: Annotated[int, typer.Option(help="Decides which nodes fail when.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="From that one on; the mean is shown.")] = 1,
    at_once: AtOnce = 1,
    kept: KeptFile = None,
    any_code: AnyCode = False,
    replay: ReplayMissing = True,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
) -> None:
    """Replay every case and print the table."""
    if lacking(FILES, "failures", TITLE, write):
        return
    note = NOTE.format(load=LOAD)
    names = [
        (way, Case(one, LOAD, _options(one, rate, recovery, movable, at)))
        for one in trace or (["kalos"] if quick else PERIODS)
        for rate in (RATES[-1:] if quick else RATES)
        for way, recovery, movable in WAYS
        for at in range(seed, seed + seeds)
    ]
    outcomes: list[tuple[str, Outcome]] = []
    for outcome in run_all([case for _, case in names], at_once, kept, replay, any_code):
        outcomes.append((next(way for way, case in names if case == outcome.case), outcome))
        _show(gathered(outcomes[-1:]))
    figures = gathered(outcomes)
    table = markdown(list(HEADER), [columns(key, one) for key, one in figures.items()])
    rated = [(_name(way, case), case) for way, case in names]
    gone = left_out(rated, [outcome for _, outcome in outcomes])
    parts = [part for part in (table, *gone, why(figures, WAYS[-1][0])) if part]
    print(*parts, sep="\n\n")
    if write:
        body = "\n\n".join([note, *parts])
        write_tables("failures", TITLE, body)
    if any(outcome.counts.breaches for _, outcome in outcomes):
        raise SystemExit(1)


def _name(way: str, case: Case) -> str:
    seed = f", seed {case.options.seed}" if case.options.seed else ""
    return f"{way} at {case.options.failures.rate:g}{seed}"


def _show(found: dict[Key, dict[int, Figures]]) -> None:
    table = Table(*HEADER)
    for key, seeds in found.items():
        table.add_row(*columns(key, seeds))
    Console(width=180).print(table)


def _options(
    trace: str, rate: float, recovery: Recovery, movable: bool, seed: int
) -> ReplayOptions:
    failures = FailureModel(rate, recovery=recovery, movable=movable)
    told = ReplayOptions(period=PERIODS[trace], seed=seed, backfill=BackfillOptions(enabled=True))
    return with_slack(replace(told, failures=failures), 1)


if __name__ == "__main__":
    typer.run(main)
