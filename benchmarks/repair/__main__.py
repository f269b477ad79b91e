"""`python -m benchmarks.repair [--row NAME]... [--seeds N] [--write]`.

Each row runs in a process of its own, so that its peak memory is its own. Ends with status 1
where a plan broke a law.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.repair.measure import Measured, measure
from benchmarks.repair.rows import MEMORY, ROWS, SEEDS, Row
from benchmarks.results import markdown, write_tables
from benchmarks.solve.figures import spread
from benchmarks.solve.instances import LIMIT

HEADER = [
    "nodes failed", "seeds", "gangs", "hit", "who + moves ms", "where ms", "in all ms",
    "in all CPU ms", "proven", "lost", "without proof", "pods moved", "peak MiB", "breaches",
    "goals",
]  # fmt: skip
NOTE = """Leaves of four nodes of eight GPUs; gangs of 1 to 16 whole nodes at three prices of a \
move, all movable; where some are below a node, two fifths of the GPUs go to gangs of 1, \
2 or 4 pods of 1, 2 or 4 GPUs. At most {limit:.0f} s a repair. Every seed runs once, on \
a fabric never met before, as after a failure. `who + moves` is the part in CP-SAT that \
decides who lives and proves the least price of the moves; `in all` is the whole repair, \
places by score included. Times are p50 / p95 / p99 / max. `gangs`, `hit`, `lost` and \
`pods moved` are means. `without proof` counts lost gangs for which it is not proven \
that they had to be. Plans are checked by the validator: `breaches`. Load when the run \
began: {load:.1f}."""


def main(
    row: Annotated[list[str] | None, typer.Option(help="Rows to run; all without it.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds a row.")] = SEEDS,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
    child: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure the rows and print them beside their goals."""
    if child is not None:
        print(json.dumps(measure(range(seeds), ROWS[child].outage).as_dict()))
        return
    unknown = [name for name in row or () if name not in ROWS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]}; there are {', '.join(ROWS)}", param_hint="--row")
    note = NOTE.format(load=os.getloadavg()[0], limit=LIMIT)
    lines: list[list[str]] = []
    breaches = 0
    for name in dict.fromkeys(row or ROWS):
        measured = _in_a_child(name, seeds)
        breaches += sum(sample.breaches for sample in measured.samples)
        lines.append(_figures(ROWS[name], measured))
        _show(lines[-1])
    if write:
        write_tables("repair", "Repair", f"{note}\n\n{markdown(HEADER, lines)}")
    if breaches:
        raise SystemExit(1)


def _in_a_child(name: str, seeds: int) -> Measured:
    command = [sys.executable, "-m", "benchmarks.repair", "--child", name, "--seeds", str(seeds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measured.from_dict(json.loads(done.stdout))


def _figures(row: Row, measured: Measured) -> list[str]:
    samples = measured.samples
    median = 1000 * statistics.median(sample.stages for sample in samples)
    proven = sum(sample.proven for sample in samples)
    goals = {} if row.stages is None else {f"p50 {row.stages:g} ms": median <= row.stages}
    goals |= {
        "proven": proven == len(samples),
        f"{MEMORY} MiB": measured.memory_mib <= MEMORY,
    }
    return [
        row.title,
        str(len(samples)),
        f"{statistics.mean(s.gangs for s in samples):.0f}",
        f"{statistics.mean(s.hit for s in samples):.1f}",
        spread([s.stages for s in samples]),
        spread([s.where for s in samples]),
        spread([s.total for s in samples]),
        spread([s.processor for s in samples]),
        f"{proven}/{len(samples)}",
        f"{statistics.mean(s.lost for s in samples):.1f}",
        str(sum(s.avoidable for s in samples)),
        f"{statistics.mean(s.pods for s in samples):.0f}",
        str(measured.memory_mib),
        str(sum(s.breaches for s in samples)),
        ", ".join(f"{goal}: {'yes' if met else 'no'}" for goal, met in goals.items()),
    ]


def _show(line: list[str]) -> None:
    table = Table("figure", line[0])
    for name, value in zip(HEADER[1:], line[1:], strict=True):
        table.add_row(name, value)
    Console(width=120).print(table)


if __name__ == "__main__":
    typer.run(main)
