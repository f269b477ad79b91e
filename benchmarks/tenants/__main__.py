"""`python -m benchmarks.tenants [--only TEXT]... [--patience 60] [--write]`.

Ends with status 1 where a goal is missed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import structlog
import typer

from benchmarks.results import amend_tables, machine, markdown, with_rows, write_tables
from benchmarks.tenants.loads import LOADS, NEAR, TWICE
from benchmarks.tenants.measure import GAP_SECONDS, HONEST, MOST_REST_SECONDS, Row, measured

TITLE = "Honest gangs beside others"
BASE = "none"
LOADS_A_BASE = 5
"""After so many loads comes a run without one, so that what else the machine does is in both."""

LEAST_SECONDS = 0.002
"""What a median may always be beyond its goal: medians without a load differ by that."""

NOTE = """\
One tenant's load waits in namespaces of its own; then {honest} honest gangs of two pods of a \
whole node each come, one every {gap:g} s, on 64 nodes. A whole scheduler with its own solver \
process on the twin of the API server, in real time, with the config that ships. *Median* and \
*longest* are seconds from the moment at which an honest gang was to come until the API server \
has bound both its pods; one that was not counts with the patience of {patience:g} s. *Posted* is \
the JSON of the load. Once these have gone and all conditions have been written, as many come \
again: *at rest* is their median, and in brackets where that did not come to be in {rest:g} s. \
Runs without a load come before the first, after each {every} and after the last; the middle one \
is in the first row, and their medians were {medians} s. The load of the machine went from \
{load_before} to {load_after}, of which this benchmark is one to two. Goals: {near:g} times that \
at rest beside what is hopeless or refused, whose arrival costs once; {twice:g} times on arrival \
of all else, each with {least:g} s of grace; none unbound, no lead lost."""

HEADER = [
    "load", "pods", "posted", "median", "longest", "at rest", "median beside none",
    "judged beside none", "goal", "bound", "leads lost", "audit", "met",
]  # fmt: skip


def main(
    only: Annotated[
        list[str] | None, typer.Option(help="Loads whose names have one of these in them.")
    ] = None,
    patience: Annotated[float, typer.Option(help="Seconds until a gang counts as unbound.")] = 60.0,
    write: Annotated[
        bool, typer.Option(help="Write the page of tables; with --only, these rows of it.")
    ] = False,
) -> None:
    """Measure, print, and write where wanted."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    rows: dict[str, Row] = {}
    before = os.getloadavg()[0]
    bases = [asyncio.run(measured(LOADS[BASE](), patience))]
    chosen = [name for name in LOADS if name != BASE and any(part in name for part in only or [""])]
    for number, name in enumerate(chosen, 1):
        rows[name] = asyncio.run(measured(LOADS[name](), patience))
        print(*columns(name, rows[name], middle(bases).median), sep=" | ", flush=True)
        if number % LOADS_A_BASE == 0 or name == chosen[-1]:
            bases.append(asyncio.run(measured(LOADS[BASE](), patience)))
    rows = {BASE: middle(bases), **rows}
    lines = [columns(name, row, rows[BASE].median) for name, row in rows.items()]
    table = markdown(HEADER, lines)
    print(table)
    if write and only:
        amend_tables("tenants", partial(with_rows, rows=lines[1:], told=_told(bases)))
    elif write:
        note = NOTE.format(
            honest=HONEST,
            gap=GAP_SECONDS,
            patience=patience,
            every=LOADS_A_BASE,
            medians=", ".join(f"{row.median:.3f}" for row in bases),
            load_before=f"{before:.1f}",
            load_after=f"{os.getloadavg()[0]:.1f}",
            rest=MOST_REST_SECONDS,
            near=NEAR,
            twice=TWICE,
            least=LEAST_SECONDS,
        )
        write_tables("tenants", TITLE, f"{note}\n\n{table}")
    if any(line[-1] == "no" for line in lines):
        raise SystemExit(1)


def _told(bases: Sequence[Row]) -> str:
    medians = ", ".join(f"{row.median:.3f}" for row in bases)
    return f"{machine()}, beside medians without a load of {medians} s"


def middle(rows: Sequence[Row]) -> Row:
    """The one whose median is the middle of all."""
    return sorted(rows, key=lambda row: row.median)[len(rows) // 2]


def columns(name: str, row: Row, base: float) -> list[str]:
    """The columns of `HEADER`."""
    goal = LOADS[name]().goal
    judged = row.at_rest if goal == NEAR else row.median
    met = row.bound == HONEST and not row.leads_lost and judged <= goal * base + LEAST_SECONDS
    return [
        name,
        f"{row.pods:,}",
        f"{row.posted / 1e6:.1f} MB",
        f"{row.median:.3f} s",
        f"{row.longest:.2f} s",
        f"{row.at_rest:.3f} s" if row.rested else f"({row.at_rest:.3f} s)",
        f"{row.median / base:.2f}",
        f"{judged / base:.2f}",
        f"{goal:g}",
        str(row.bound),
        str(row.leads_lost),
        f"{row.audited / 1e6:.1f} MB",
        "yes" if met else "no",
    ]


if __name__ == "__main__":
    typer.run(main)
