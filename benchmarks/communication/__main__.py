"""`python -m benchmarks.communication [--quick] [--at-once N] [--kept FILE] [--write]`.

Kalos gangs on the Lingjun fabric whose leaves share their uplinks, at oversubscriptions of 1 to
8, under every policy. Ends with status 1 where a policy that knows the leaf rule broke a law.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.communication.figures import HEADER, columns, gathered, verdict
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
from benchmarks.trace.__main__ import LAWFUL, TRACES
from fourleaf.simulator.options import BackfillOptions, Communication, ReplayOptions
from fourleaf.simulator.policies.catalogue import NAMES

TRACE = "kalos"
LOAD = 80
QUICK_LOAD = 20
SHARED = (1, 2, 4, 8)
"""A leaf of m nodes has uplinks of m / r times the bandwidth of a node."""
SHARE = 300
"""Of a step within one leaf, in thousandths, that is communication nothing hides."""
TITLE = "Communication: speed by place"
NOTE = """Kalos at {load} % load on the Lingjun fabric, `windowSlack` 1, \
`windowNodes` {nodes}, with room kept as in the \
section on traces. A gang all-reduces over one ring of its nodes in rank order; the hops that \
leave a leaf share its uplinks, which have 1 / oversubscription of the bandwidth of its nodes. \
`slowdown` is how long a step takes of one on full bandwidth, of which {share:.0%} is \
communication that computing does not hide: the mean over GPU-time, gangs of two nodes and more. \
All gangs are taken to communicate all the time, which is the worst case; the model and its source \
are in `simulator/communication_model.py`."""


def main(
    quick: Annotated[bool, typer.Option(help="8:1 alone, at a low load.")] = False,
    policy: Annotated[list[str] | None, typer.Option(help="Policies; all without it.")] = None,
    window_nodes: Annotated[int, typer.Option(min=0, max=65536, help="windowNodes.")] = 16,
    at_once: AtOnce = 1,
    kept: KeptFile = None,
    any_code: AnyCode = False,
    replay: ReplayMissing = True,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
) -> None:
    """Replay every case and print the table and the verdict."""
    if lacking(FILES, "communication", TITLE, write):
        return
    load = QUICK_LOAD if quick else LOAD
    cases = [
        Case(TRACE, load, _options(one, shared, window_nodes))
        for shared in (SHARED[-1:] if quick else SHARED)
        for one in policy or NAMES
    ]
    outcomes: list[Outcome] = []
    for outcome in run_all(cases, at_once, kept, replay, any_code):
        outcomes.append(outcome)
        _show(outcome)
    found = gathered(outcomes)
    table = markdown(list(HEADER), [columns(key, one) for key, one in found.items()])
    parts = [table, *left_out([(_name(case), case) for case in cases], outcomes), verdict(found)]
    print(*parts, sep="\n\n")
    if write:
        note = NOTE.format(load=load, nodes=window_nodes, share=SHARE / 1000)
        write_tables("communication", TITLE, "\n\n".join([note, *parts]))
    if any(one.counts.breaches for one in outcomes if one.case.options.policy in LAWFUL):
        raise SystemExit(1)


def _options(policy: str, oversubscription: int, window_nodes: int) -> ReplayOptions:
    told = ReplayOptions(
        policy=policy, period=TRACES[TRACE], backfill=BackfillOptions(enabled=True)
    )
    shared = Communication(True, oversubscription, SHARE)
    told = with_slack(replace(told, communication=shared), 1)
    return with_window_nodes(told, window_nodes)


def _name(case: Case) -> str:
    return f"{case.options.policy} at {case.options.communication.oversubscription}:1"


def _show(outcome: Outcome) -> None:
    table = Table(*HEADER)
    for key, one in gathered([outcome]).items():
        table.add_row(*columns(key, one))
    Console(width=180).print(table)


if __name__ == "__main__":
    typer.run(main)
