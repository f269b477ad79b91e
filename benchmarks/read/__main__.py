"""Medians of reading 1000 nodes, 10,000 running pods and 100 waiting gangs."""

from __future__ import annotations

import json
import statistics
import time

import ryaml

from benchmarks.read.cluster import cluster, without_managers
from model.readers import Source, read

RUNS = 5
GOALS = {"json": 1.2, "yaml": 3.0}


def main() -> None:
    """Print one line per input: megabytes, median and worst seconds, CPU seconds, the goal."""
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
        snapshot = reading.snapshot
        print(
            f"{name}: {len(text) / 2**20:.0f} MiB, {len(snapshot.fabric.nodes)} nodes, "
            f"{len(snapshot.running)} running, {len(snapshot.gangs)} waiting: "
            f"median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s, "
            f"CPU {statistics.median(busy):.2f} s, "
            f"goal {GOALS[name[:4]]} s"
        )


if __name__ == "__main__":
    main()
