"""Gangs that come and go without end: `python -m benchmarks.sustained [--write]`.

Ends with status 1 where ours broke a law.
"""

from __future__ import annotations

from inspect import getdoc
from typing import Annotated

import typer

from benchmarks.results import write_tables
from benchmarks.throughput.showing import show
from benchmarks.throughput.stream import LOADS, sustained


def main(write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False) -> None:
    """Measure single pods and small gangs, and print the figures side by side."""
    found = [sustained(0, load) for load in LOADS]
    header = ["figure", *(f"gangs of {load}" for load in LOADS)]
    lines = [list(line) for line in zip(*(one.figures() for one in found), strict=True)]
    table = [[same[0][0], *(value for _, value in same)] for same in lines]
    parts = [str(getdoc(sustained)), *show([("", header, table)])]
    if write:
        write_tables("sustained", "Sustained load", "\n\n".join(parts))
    breaches = [line for one in found for line in one.breaches]
    for line in breaches:
        print(f"breach: {line}")
    if breaches:
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
