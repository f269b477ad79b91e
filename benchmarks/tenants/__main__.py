"""`python -m benchmarks.tenants [--only TEXT] [--patience 60] [--write]`.

Ends with status 1 where a goal is missed.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import structlog
import typer

from benchmarks.results import markdown, write_section
from benchmarks.tenants.loads import LOADS, NEAR, TWICE
from benchmarks.tenants.measure import GAP_SECONDS, HONEST, Row, measured

TITLE = "Honest gangs beside others"
BASE = "none"
BASES = 3
"""Runs without a load."""

LEAST_SECONDS = 0.05
"""What a median may always be beyond the one without a load: a look at a shared machine is no
better than that."""

NOTE = """One tenant's load waits in namespaces of its own; then {honest} honest gangs of two pods \
of a whole node each come, one every {gap:g} s, on 64 nodes. A whole scheduler with its own solver \
process on the twin of the API server, in real time, with the config that ships. *Median* and \
*longest* are seconds from the moment at which an honest gang was to come until both its pods are \
bound; one that was not counts with the patience of {patience:g} s. *Posted* is the JSON of the \
load. Once these have gone and the scheduler has nothing more to say, as many come again: \
*at rest* is their median. The median without a load is the middle one of {bases} runs. Goals: \
{near:g} times that at rest beside what is hopeless or refused, whose arrival costs once; \
{twice:g} times on arrival of all else; none unbound, no lead lost."""

HEADER = [
    "load", "pods", "posted", "median", "longest", "at rest", "beside none", "goal", "bound",
    "leads lost", "audit", "met",
]  # fmt: skip


def main(
    only: Annotated[str, typer.Option(help="Loads whose names have this in them.")] = "",
    patience: Annotated[float, typer.Option(help="Seconds until a gang counts as unbound.")] = 60.0,
    write: Annotated[bool, typer.Option(help="Replace the section of RESULTS.md.")] = False,
) -> None:
    """Measure, print, and write where wanted."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    rows: dict[str, Row] = {}
    bases = [asyncio.run(measured(LOADS[BASE](), patience)) for _ in range(BASES)]
    rows[BASE] = sorted(bases, key=lambda row: row.median)[1]
    for name in LOADS:
        if name != BASE and only in name:
            rows[name] = asyncio.run(measured(LOADS[name](), patience))
            print(*columns(name, rows[name], rows[BASE].median), sep=" | ", flush=True)
    base = rows[BASE].median
    lines = [columns(name, row, base) for name, row in rows.items()]
    table = markdown(HEADER, lines)
    print(table)
    if write:
        note = NOTE.format(
            honest=HONEST,
            gap=GAP_SECONDS,
            patience=patience,
            bases=BASES,
            near=NEAR,
            twice=TWICE,
        )
        write_section("tenants", TITLE, f"{note}\n\n{table}")
    if any(line[-1] == "no" for line in lines):
        raise SystemExit(1)


def columns(name: str, row: Row, base: float) -> list[str]:
    """The columns of `HEADER`."""
    goal = LOADS[name]().goal
    judged = row.at_rest if goal == NEAR else row.median
    met = row.bound == HONEST and not row.leads_lost and judged <= goal * base + LEAST_SECONDS
    return [
        name,
        f"{row.pods:,}",
        f"{row.posted / 1e6:.1f} MB",
        f"{row.median:.2f} s",
        f"{row.longest:.2f} s",
        f"{row.at_rest:.2f} s",
        f"{judged / base:.1f}",
        f"{goal:g}",
        str(row.bound),
        str(row.leads_lost),
        f"{row.audited / 1e6:.1f} MB",
        "yes" if met else "no",
    ]


if __name__ == "__main__":
    typer.run(main)
