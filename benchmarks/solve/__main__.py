"""`python -m benchmarks.solve [--row NAME]... [--seeds N] [--write]`.

Each row runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.results import markdown, write_section
from benchmarks.solve import lingjun
from benchmarks.solve.instances import LIMIT, Shape

NAIVE_SEEDS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its instances and its goals in milliseconds (p50, p99) and MiB."""

    title: str
    nodes: int
    gangs: int
    parts: bool = False
    seeds: int = 200
    real: bool = False
    p50: float | None = None
    p99: float | None = None
    memory: int | None = None


ROWS = {
    "whole": Row("1000 nodes, 100 gangs", 1000, 100, p50=40, p99=150),
    "parts": Row("the same, half below a node", 1000, 100, parts=True, p50=200, p99=500),
    "large": Row("10,000 nodes, 1000 gangs", 10_000, 1000, seeds=20, p50=2000, memory=400),
    "kalos": Row("Lingjun, 100 Kalos gangs", 0, 100, real=True, p99=150),
    "tiled": Row("Lingjun tiled to 1000, 100 Kalos gangs", 1000, 100, real=True, p99=150),
}
HEADER = [
    "row", "seeds", "p50 ms", "p95 ms", "p99 ms", "max ms", "solving p50", "cold p50", "CPU p50",
    "proven", "worst gap", "placed", "peak MiB", "breaches", "goal", "met",
]  # fmt: skip


def main(
    row: Annotated[list[str] | None, typer.Option(help="Rows to run; all without it.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Seeds a row, instead of its own.")] = None,
    write: Annotated[bool, typer.Option(help="Write RESULTS.md.")] = False,
    child: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure the rows and print them beside their goals."""
    if child is not None:
        _run_child(ROWS[child], seeds)
        return
    results = {}
    for name in row or list(ROWS):
        if ROWS[name].real and not lingjun.available():
            print(f"{name}: skipped, no data in {lingjun.folder()} (TOPOLOGY_DATA_DIR)")
            continue
        command = [sys.executable, "-m", "benchmarks.solve", "--child", name]
        command += ["--seeds", str(seeds)] if seeds else []
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        results[name] = json.loads(done.stdout)
        _show([_figures(ROWS[name], results[name])])
    ours = markdown(HEADER, [_figures(ROWS[n], r) for n, r in results.items()])
    others = _others(results)
    print(others)
    if write:
        note = (
            "Whole cycles in a warm process, on a fabric met before (cold: the first cycle on "
            "it); `solving` is the part in CP-SAT, the rest builds and decodes. Occupancy 20 to "
            "90 %, all terms on. Every plan passed the validator, or `breaches` says how not."
        )
        write_section("solve", "Batch solve", f"{note}\n\n{ours}\n\n{others}")
    if any(result["breaches"] for result in results.values()):
        raise SystemExit(1)


def _run_child(row: Row, seeds: int | None) -> None:
    from benchmarks.solve.measure import measure

    shape = lingjun.shape(row.nodes) if row.real else Shape.regular(row.nodes)
    sizes = lingjun.sizes() if row.real else []
    naive = NAIVE_SEEDS if row is ROWS["whole"] else 0
    measured = measure(range(seeds or row.seeds), shape, row.gangs, row.parts, sizes, naive)
    print(json.dumps(measured.as_dict()))


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _figures(row: Row, result: dict[str, list[float]]) -> list[str]:
    times = [1000 * t for t in result["total"]]
    p50, p95, p99 = (_quantile(times, share) for share in (0.5, 0.95, 0.99))
    memory = int(result["memory_mib"])  # type: ignore[call-overload]
    goals, met = [], True
    for label, goal, value in (
        ("p50", row.p50, p50), ("p99", row.p99, p99), ("MiB", row.memory, memory)
    ):  # fmt: skip
        if goal is not None:
            goals.append(f"{label} {goal:g}")
            met = met and value <= goal
    proven = result["proven"]
    return [
        row.title,
        str(len(times)),
        *(f"{value:.0f}" for value in (p50, p95, p99, max(times))),
        f"{1000 * statistics.median(result['solving']):.0f}",
        f"{1000 * statistics.median(result['cold']):.0f}",
        f"{1000 * statistics.median(result['processor']):.0f}",
        f"{sum(proven)}/{len(proven)}",
        f"{100 * max(result['gap']):.3f} %",
        f"{statistics.median(result['placed']):.0f}",
        str(memory),
        str(result["breaches"]),
        ", ".join(goals),
        "yes" if met else "no",
    ]


def _others(results: dict[str, dict[str, list[float]]]) -> str:
    """Greedy on every row, and the naive model on the first."""
    rows = []
    for name, result in results.items():
        rows.append(
            [
                ROWS[name].title,
                f"{100 * statistics.mean(result['greedy_gpus']):.1f} %",
                f"{100 * statistics.mean(result['greedy_score']):.1f} %",
            ]
        )
    text = "Greedy (tree best fit) against the solver on the same instances, means:\n\n"
    text += markdown(["row", "GPUs placed", "objective"], rows)
    naive = results.get("whole", {}).get("naive_seconds")
    if naive:
        whole = results["whole"]
        ratio = statistics.median(naive) / statistics.median(whole["total"][: len(naive)])
        gaps = whole["naive_gap"]
        worst = "no answer" if max(gaps) == float("inf") else f"{100 * max(gaps):.2f} %"
        text += (
            f"\n\nThe naive model (a boolean per gang and node, one weighted objective, default "
            f"parameters, one worker, {LIMIT:.0f} s) on the first {len(naive)} seeds of the first "
            f"row: proven {sum(whole['naive_proven'])}/{len(naive)}, median "
            f"{statistics.median(naive):.1f} s, worst gap {worst}; {ratio:.0f} times our time."
        )
    return text


def _show(rows: list[list[str]]) -> None:
    table = Table(*HEADER)
    for row in rows:
        table.add_row(*row)
    Console(width=200).print(table)


if __name__ == "__main__":
    typer.run(main)
