"""`python -m benchmarks.solve [--row NAME]... [--seeds N] [--write]`.

Each row runs in a process of its own, so that its peak memory is its own. Ends with status 1
where a plan broke a law.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.results import markdown, write_tables
from benchmarks.solve.figures import (
    GREEDY_HEADER,
    HEADER,
    NAIVE_HEADER,
    figures,
    greedy_figures,
    naive_figures,
)
from benchmarks.solve.instances import LIMIT
from benchmarks.solve.measure import Measured, measure
from benchmarks.solve.rows import NAIVE_SEEDS, ROWS
from fourleaf.simulator.readers import kalos, lingjun
from fourleaf.simulator.readers.folder import available

NOTE = """Whole cycles in a process that has garbage collection as the worker has it, on a fabric \
met before (`cold`: the first cycle on it, another batch). `solve` is the part in CP-SAT, \
`build` the rest, decoding included; times are p50 / p95 / p99 / max, wall clock unless CPU is \
named. Occupancy 20 to 90 %, all terms on, every pod of the Kalos rows a whole node; at most \
{limit:.0f} s a cycle. `placed` is the median; `peak` the VmHWM of the row's own process after \
its last cycle. Our plans, cold ones too, and greedy's are checked by the validator: `breaches`. \
`pace` is the CPU time of a fixed piece of Python before each seed: where it is twice as long, the \
machine was half as fast. Load when the run began: {load:.1f}."""
GREEDY = """Greedy (tree best fit) on the same instances: GPUs placed as a share of ours, mean and \
least, and in how many its objective is less than ours:"""
NAIVE = """The naive model (a boolean per gang and node, one weighted objective, default \
parameters, one worker, the same limit, building on top) on seeds of the first row. It counts \
only GPUs and keeps no room for likely gangs. Where it ran into its limit, the ratio of times is \
a lower bound; where our gap is 0, that of gaps has no end. Gaps are relative to the bound:"""


def main(
    row: Annotated[list[str] | None, typer.Option(help="Rows to run; all without it.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds a row, instead of its own.")
    ] = None,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
    child: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure the rows and print them beside their goals."""
    if child is not None:
        wanted = seeds or ROWS[child].seeds
        found = measure(range(wanted), ROWS[child].instances(), NAIVE_SEEDS.get(child, 0))
        print(json.dumps(found.as_dict()))
        return
    unknown = [name for name in row or () if name not in ROWS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]}; there are {', '.join(ROWS)}", param_hint="--row")
    note = NOTE.format(limit=LIMIT, load=os.getloadavg()[0])
    results: dict[str, Measured] = {}
    skipped = []
    for name in dict.fromkeys(row or ROWS):
        if ROWS[name].real and not available(lingjun.FILE, kalos.FILE):
            skipped.append(f"`{name}` was skipped: no data, set TOPOLOGY_DATA_DIR.")
            print(skipped[-1])
            continue
        results[name] = _in_a_child(name, seeds)
        _show(HEADER, [figures(ROWS[name], results[name])])
    parts = [note, *skipped]
    for words, header, lines in _tables(results):
        parts += [words, markdown(header, lines)] if words else [markdown(header, lines)]
        if words and lines:
            print(words)
            _show(header, lines)
    if write:
        write_tables("solve", "Batch solve", "\n\n".join(parts))
    if any(result.breaches for result in results.values()):
        raise SystemExit(1)


def _in_a_child(name: str, seeds: int | None) -> Measured:
    command = [sys.executable, "-m", "benchmarks.solve", "--child", name]
    command += ["--seeds", str(seeds)] if seeds else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measured.from_dict(json.loads(done.stdout))


def _tables(results: dict[str, Measured]) -> list[tuple[str, list[str], list[list[str]]]]:
    """What to say before a table, its header and its lines; ours first, with nothing to say."""
    tables = [
        ("", HEADER, [figures(ROWS[name], result) for name, result in results.items()]),
        (GREEDY, GREEDY_HEADER, [greedy_figures(ROWS[n], r) for n, r in results.items()]),
        (NAIVE, NAIVE_HEADER, [line for r in results.values() for line in naive_figures(r)]),
    ]
    return [table for table in tables if table[2]]


def _show(header: list[str], lines: list[list[str]]) -> None:
    """Print lines as columns, or a single wide line as one figure below the other."""
    if len(lines) == 1 and len(header) > len(NAIVE_HEADER):
        table = Table("figure", lines[0][0])
        for name, value in zip(header[1:], lines[0][1:], strict=True):
            table.add_row(name, value)
    else:
        table = Table(*header)
        for line in lines:
            table.add_row(*line)
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
