"""Medians of reading 1000 nodes, 10,000 running pods and 100 waiting gangs."""

from __future__ import annotations

import json
import statistics
import time

import ryaml
import typer

from benchmarks.read.cluster import cluster, without_managers
from benchmarks.results import markdown, write_tables
from fourleaf.model.readers import Source, read

RUNS = 5
GOALS = {"json": 1.2, "yaml": 3.0}


def main(write: bool = False) -> None:
    """Print a table: megabytes, median and worst seconds, CPU seconds, the goal."""
    header = ["input", "MiB", "median s", "worst s", "CPU s", "goal s"]
    rows = []
    body = cluster(1000, 10_000, 100)
    raw = json.dumps(body, indent=4).encode()
    printed = without_managers(body)
    texts = {
        "json": json.dumps(printed, indent=4).encode(),
        "json with managedFields": raw,
        "yaml": vars(ryaml)["dumps"](printed).encode(),
    }
    del body, printed
    for name, text in texts.items():
        seconds, busy = [], []
        for _ in range(RUNS):
            start, used = time.perf_counter(), time.process_time()
            reading = read([Source(f"cluster.{name[:4]}", text)])
            seconds.append(time.perf_counter() - start)
            busy.append(time.process_time() - used)
        if (len(reading.snapshot.running), len(reading.snapshot.gangs)) != (10_000, 100):
            raise SystemExit(f"{name}: not everything was read")
        figures = (statistics.median(seconds), max(seconds), statistics.median(busy))
        rows.append(
            [
                name,
                f"{len(text) / 2**20:.0f}",
                *(f"{value:.2f}" for value in figures),
                f"{GOALS[name[:4]]:g}",
            ]
        )
    table = markdown(header, rows)
    print(table)
    if write:
        note = f"1000 nodes, 10,000 running pods of full size, 100 waiting gangs; {RUNS} runs each."
        write_tables("read", "Reading", f"{note}\n\n{table}")


if __name__ == "__main__":
    typer.run(main)
