"""How soon `status`, `queue` and `why` answer: `python -m benchmarks.verbs [--write]`.

A control plane from source with 64 and with 1000 nodes, of which all but 8 are taken by pods
that run, one to a node; gangs of 16 whole nodes wait, and the scheduler runs beside the verb and
has written why. Each verb is a process of its own, interpreter and imports included, with its
bytecode compiled beforehand. CPU is that of the verb and its children, in user mode. A goal is
met where the median meets it on an idle machine.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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

GOALS = {64: 0.6, 1000: 1.5}
"""Nodes -> seconds."""
WAITING = {64: 5, 1000: 50}
"""Nodes -> gangs that wait."""
SIZE = 16
FREE = 8
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
SCHEDULER = "topology-aware-scheduler"
MAIN = "from fourleaf.cli.main import main; main()"
VERBS = {
    "status": ("status",),
    "queue": ("queue",),
    "why, of a gang that waits": ("why", f"{NAMESPACE}/wait-0"),
    "why, of a gang that runs": ("why", f"{NAMESPACE}/run-0"),
}
HEADER = ["nodes", "verb", "median s", "worst s", "median CPU s", "goal s", "met"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a verb took: seconds on the wall, and of CPU in user mode."""

    wall: float
    cpu: float


def _gang(name: str, size: int) -> dict[str, str]:
    return {"topology.scheduler/gang": name, "topology.scheduler/gang-size": str(size)}


def _fill(api: Api, nodes: list[str], waiting: int) -> None:
    """Pods that run on all of `nodes`, and so many gangs that wait."""
    api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for number, node in enumerate(nodes):
        body = pod(f"run-{number}", SCHEDULER, annotations=_gang(f"run-{number}", 1))
        body["spec"]["nodeName"] = node
        api.create(PODS, body)
    for number in range(waiting):
        name = f"wait-{number}"
        for rank in range(SIZE):
            api.create(PODS, pod(f"{name}-{rank}", SCHEDULER, annotations=_gang(name, SIZE)))


def _all_told(api: Api) -> bool:
    """Whether every pod that waits says why."""
    pods = api.get(f"{PODS}?fieldSelector=spec.nodeName%3D&resourceVersion=0")["items"]
    return all(
        any(one["type"] == "PodScheduled" for one in body["status"].get("conditions") or ())
        for body in pods
    )


@contextmanager
def scene(count: int) -> Iterator[Path]:
    """A cluster of so many nodes with its scheduler, and the kubeconfig that reaches it."""
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        names = create_fleet(control.kubeconfig(), Fleet(count))
        grant(control, "scheduler-a")
        with control.api() as api, Replica(control, "scheduler-a", Path(folder)):
            _fill(api, names[:-FREE], WAITING[count])
            eventually(lambda: _all_told(api), "all pods that wait say why", 120.0)
            yield control.kubeconfig()


def once(words: tuple[str, ...], kubeconfig: Path, bytecode: Path) -> Cost:
    """Run the verb, which has to answer."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began, before = time.perf_counter(), os.times().children_user
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words, "--kubeconfig", str(kubeconfig)],
        capture_output=True,
        check=False,
        env=environment,
    )
    wall = time.perf_counter() - began
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr.decode())
    return Cost(wall, os.times().children_user - before)


def rows(count: int, runs: int) -> Iterator[list[str]]:
    """A row for each verb on a cluster of `count` nodes."""
    with scene(count) as kubeconfig, tempfile.TemporaryDirectory() as bytecode:
        for name, words in VERBS.items():
            once(words, kubeconfig, Path(bytecode))
            costs = [once(words, kubeconfig, Path(bytecode)) for _ in range(runs)]
            median = statistics.median(one.wall for one in costs)
            yield [
                str(count),
                name,
                f"{median:.2f}",
                f"{max(one.wall for one in costs):.2f}",
                f"{statistics.median(one.cpu for one in costs):.2f}",
                f"{GOALS[count]:g}",
                "yes" if median <= GOALS[count] else "no",
            ]


def main(
    nodes: Annotated[list[int] | None, typer.Option(help="Of 64 and 1000; both.")] = None,
    runs: Annotated[int, typer.Option(help="Runs of each verb.")] = 7,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
) -> None:
    """Measure, and print the figures beside the goals."""
    table = []
    for count in nodes or GOALS:
        for row in rows(count, runs):
            table.append(row)
            print(" | ".join(row), flush=True)
    if write:
        note = (__doc__ or "").split(chr(10), 2)[2].strip()
        write_tables("verbs", "The command line", f"{note}\n\n{markdown(HEADER, table)}")


if __name__ == "__main__":
    typer.run(main)
