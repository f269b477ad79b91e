"""How soon a scheduler binds after it was started: `python -m benchmarks.start [--write]`.

A single replica on a control plane from source with 1000 nodes; a gang of four waits. Time
runs from the start of the process, interpreter and imports included, until all four are bound.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.results import markdown, write_tables
from benchmarks.throughput.contenders import plane
from benchmarks.throughput.load import NAMESPACE, pod
from tests.controlplane.api import Api
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.replica import Replica, grant

RUNS = 5
NODES = 1000
GOAL = 3.0
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
GANG = {"topology.scheduler/gang": "first", "topology.scheduler/gang-size": "4"}


def once() -> float:
    """Seconds from the start of the process until the gang is bound."""
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        create_fleet(control.kubeconfig(), Fleet(NODES))
        grant(control, "scheduler-a")
        with control.api() as api:
            api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            for rank in range(4):
                name = "topology-aware-scheduler"
                api.create(PODS, pod(f"first-{rank}", name, annotations=GANG))
            started = time.perf_counter()
            with Replica(control, "scheduler-a", Path(folder)):
                eventually(lambda: _bound(api), "the gang is bound")
                return time.perf_counter() - started


def _bound(api: Api) -> bool:
    return all(body["spec"].get("nodeName") for body in api.get(PODS)["items"])


def main(write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False) -> None:
    """Measure, and print the figures beside the goal."""
    seconds = [once() for _ in range(RUNS)]
    header = ["runs", "median s", "worst s", "goal s", "met"]
    met = "yes" if statistics.median(seconds) <= GOAL else "no"
    row = [str(RUNS), f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}", f"{GOAL:g}", met]
    print(" | ".join(row))
    if write:
        body = f"{(__doc__ or '').split(chr(10), 2)[2].strip()}\n\n{markdown(header, [row])}"
        write_tables("start", "From start to the first gang bound", body)


if __name__ == "__main__":
    typer.run(main)
