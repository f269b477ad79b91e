"""`python -m benchmarks.trace [--quick] [--at-once N] [--kept FILE] [--write]`.

Kalos gangs, and Philly jobs scaled up, on the Lingjun fabric, under every policy at loads of
70 to 110 %. Ends with status 1 where a policy that knows the leaf rule broke a law.
"""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.data import lacking
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
    with_window_nodes,
)
from benchmarks.results import markdown, write_tables
from benchmarks.trace.figures import HEADER, Figures, behind, columns, gathered
from benchmarks.trace.week import line, week
from fourleaf.simulator.options import BackfillOptions, ReplayOptions
from fourleaf.simulator.policies.catalogue import NAMES

LOADS = (70, 80, 90, 100, 110)
TRACES = {"kalos": 10, "philly": 60}
"""Seconds between cycles: Kalos has few gangs, Philly thousands."""
LAWFUL = ("cpsat", "greedy", "first-fit")
"""Policies whose every placement the validator must accept."""
TITLE = "Traces: policy beside policy"
NOTE = """Replays in virtual time on the Lingjun fabric (847 nodes), `windowSlack` {slack}, \
`windowNodes` {nodes}. \
Kalos: 319 gangs of 1 to 128 nodes as recorded; Philly: the week in which most work arrives, a \
node for every GPU; arrivals alone are scaled to the load, which is what the gangs would use of \
all GPU-seconds until the last arrival if each started as it arrives. Every policy keeps room for \
a gang that has waited for 600 s, and durations are known. Allocation counts until the last \
arrival; the largest gangs have at least half as many nodes as the largest; `leaves` are those of \
all gangs over the fewest possible, for gangs of two nodes and more; `illegal` gangs stand where \
the leaf rule allows no gang. GPU-seconds are conserved in every replay, and every plan went \
through the validator. Means over `deals`: the trace as recorded, then its arrivals dealt to its \
gangs anew. Without `unproven` cycles the figures are the same on every machine; seconds are wall \
clock beside whatever else ran."""
WHY = """Why a baseline can be ahead:

- `spread` knows no leaves. What it gains in allocation and wait it takes from the rule: its gangs \
stand on several times the fewest leaves, and most hops of their rings cross leaves.
- First-fit fills the fabric from one end, so that the other stays free in one piece, which is \
what gangs of 64 and 128 nodes wait for on Kalos. Ours goes by comfort first and keeps room for \
likely gangs as far as `fragmentation.weight` says, 0.1 by default; decision 23 has the figures of \
other weights.
- Greedy takes gangs in the order of the same values, so no rule puts it ahead: where it is, ties \
fell better for it. Decision 23 shows how far they carry: plans of the same worth, chosen \
otherwise, moved single loads of Kalos by up to seven points.
- Age counts in 8 steps of `batch.ageStepSeconds`, 600 s by default, so that it says no more after \
70 minutes. Where gangs wait for days all of them are equally old, and the batch takes those that \
fill most GPUs, while buddy and first-fit go by arrival.
- A batch is proven the best for its moment, not for the sum of the moments. One gang of 128 nodes \
that starts an hour earlier moves all gangs behind it: ours does not even fall evenly from load to \
load. One deal of 319 gangs tells such luck from merit badly."""


def main(
    quick: Annotated[bool, typer.Option(help="A part of the traces at one load.")] = False,
    trace: Annotated[list[str] | None, typer.Option(help="kalos, philly; both without it.")] = None,
    load: Annotated[list[int] | None, typer.Option(help="Loads in percent.")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="Policies; all without it.")] = None,
    slack: Annotated[int, typer.Option(min=0, max=1, help="windowSlack.")] = 1,
    window_nodes: Annotated[int, typer.Option(min=0, max=65536, help="windowNodes.")] = 16,
    deals: Annotated[
        int, typer.Option(min=1, help="The trace as recorded, and dealt anew so often less one.")
    ] = 1,
    at_once: AtOnce = 1,
    kept: KeptFile = None,
    any_code: AnyCode = False,
    replay: ReplayMissing = True,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
) -> None:
    """Replay every case and print the table."""
    if lacking(FILES, "trace", TITLE, write):
        return
    note = NOTE.format(slack=slack, nodes=window_nodes)
    loads = load or ((90,) if quick else LOADS)
    cases = [
        Case(name, percent, _options(one, name, slack, window_nodes), quick, deal)
        for name in trace or TRACES
        for percent in loads
        for one in policy or NAMES
        for deal in range(deals)
    ]
    outcomes: list[Outcome] = []
    for outcome in run_all(cases, at_once, kept, replay, any_code):
        outcomes.append(outcome)
        _show(outcome)
    figures = gathered(outcomes)
    table = markdown(list(HEADER), [columns(key, one) for key, one in figures.items()])
    parts = [
        note,
        table,
        *left_out([(_name(case), case) for case in cases], outcomes),
        behind(figures),
        WHY,
    ]
    if not quick and "philly" in (trace or TRACES):
        found = week(kept, replay)
        parts += [line(found)] if found is not None else []
    print(*parts[1:], sep="\n\n")
    if write:
        write_tables("trace", TITLE, "\n\n".join(parts))
    if any(one.counts.breaches for one in outcomes if one.case.options.policy in LAWFUL):
        raise SystemExit(1)


def _name(case: Case) -> str:
    deal = f", deal {case.deal}" if case.deal else ""
    return f"{case.options.policy} at {case.load} %{deal}"


def _options(policy: str, trace: str, slack: int, window_nodes: int) -> ReplayOptions:
    told = ReplayOptions(
        policy=policy, period=TRACES[trace], backfill=BackfillOptions(enabled=True)
    )
    return with_window_nodes(with_slack(told, slack), window_nodes)


def _show(outcome: Outcome) -> None:
    case = outcome.case
    table = Table(*HEADER)
    key = (case.trace, case.load, case.options.policy)
    table.add_row(*columns(key, {case.deal: Figures.of(outcome)}))
    Console(width=180).print(table)


if __name__ == "__main__":
    typer.run(main)
