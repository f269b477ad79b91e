"""`python -m benchmarks.plan [--write]`: the whole command on a large cluster, from file to answer.

1000 nodes, 10,000 running pods, 100 waiting gangs; JSON and YAML as `kubectl get -o` prints
them. Full pods carry what training pods carry (environment, volumes, conditions, about 10 KiB
of indented JSON each); small ones only what a bare Job's pod has (about 1 KiB of YAML).
The command runs as it does where it is installed: its bytecode is compiled beforehand.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import ryaml
import typer

from benchmarks.read.cluster import cluster, without_managers
from benchmarks.results import markdown, write_tables

RUNS = 5
GOALS = {"json": 2.0, "yaml": 4.0}
MAIN = "from fourleaf.cli.main import main; main()"
MEASURED = """
import sys
from fourleaf.cli.main import main
from fourleaf.solver.process.memory_limit import peak_memory_mib
try:
    main()
finally:
    print(peak_memory_mib(), file=sys.stderr)
"""


def small(item: dict[str, Any]) -> dict[str, Any]:
    """The object with only what a bare one has: names, labels, owners, requests, phase."""
    if item["kind"] != "Pod":
        return item
    spec, meta = item["spec"], item["metadata"]
    kept = ("schedulerName", "nodeName", "tolerations", "priorityClassName", "restartPolicy")
    containers = [
        {k: c[k] for k in ("name", "image", "resources") if k in c} for c in spec["containers"]
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {k: v for k, v in meta.items() if k != "managedFields"},
        "spec": {**{k: spec[k] for k in kept if k in spec}, "containers": containers},
        "status": {"phase": item["status"]["phase"]},
    }


def texts() -> dict[str, tuple[str, bytes]]:
    """Name of the row -> (ending of the file, its content)."""
    full = without_managers(cluster(1000, 10_000, 100))
    lean = {**full, "items": [small(item) for item in full["items"]]}
    dumps = vars(ryaml)["dumps"]
    return {
        "full pods, JSON": ("json", json.dumps(full, indent=4).encode()),
        "full pods, YAML": ("yaml", dumps(full).encode()),
        "small pods, JSON": ("json", json.dumps(lean, indent=4).encode()),
        "small pods, YAML": ("yaml", dumps(lean).encode()),
    }


def command(code: str, path: Path) -> subprocess.CompletedProcess[bytes]:
    """Plan what `path` holds in a process of its own, with compiled bytecode in its folder."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(path.parent / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code, "plan", "-o", "json", "-f", str(path)],
        capture_output=True,
        check=False,
        env=environment,
    )
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr.decode())
    return done


def run(path: Path) -> tuple[float, dict[str, Any]]:
    """Seconds of one whole command, and the plan it printed."""
    start = time.perf_counter()
    done = command(MAIN, path)
    return time.perf_counter() - start, json.loads(done.stdout)


def peak_mib(path: Path) -> int:
    """Most memory that the command's own process held, in a run beside the measured ones."""
    return int(command(MEASURED, path).stderr.splitlines()[-1])


def main(write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False) -> None:
    """Measure every row and print it beside its goal."""
    header = [
        "input", "MiB", "median s", "worst s", "reading s", "solving s", "status",
        "peak MiB", "solver's peak MiB", "goal s", "met",
    ]  # fmt: skip
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (ending, text) in texts().items():
            path = Path(folder) / f"now.{ending}"
            path.write_bytes(text)
            peak = peak_mib(path)
            runs = [run(path) for _ in range(RUNS)]
            times = [seconds for seconds, _ in runs]
            median = statistics.median(times)
            plan = runs[-1][1]
            rows.append(
                [
                    name,
                    f"{len(text) / 2**20:.0f}",
                    f"{median:.2f}",
                    f"{max(times):.2f}",
                    f"{statistics.median(p['seconds']['read'] for _, p in runs):.2f}",
                    f"{statistics.median(p['seconds']['solve'] for _, p in runs):.2f}",
                    plan["status"],
                    str(peak),
                    str(plan["peakMemoryMiB"]),
                    f"{GOALS[ending]:.0f}",
                    "yes" if median <= GOALS[ending] else "no",
                ]
            )
            print(" | ".join(rows[-1]), flush=True)
    if write:
        note = (
            "`fourleaf plan` as a process of its own: 1000 nodes, 10,000 running pods, 100 "
            f"waiting gangs, {RUNS} runs each. `MiB` is the file; a full pod takes 9 KiB of "
            "indented JSON or 4 KiB of YAML, a small one 3 or 1.3. The peaks are those of the "
            "command and of its solver process. A goal is met where the median meets it."
        )
        write_tables("plan", "The whole command", f"{note}\n\n{markdown(header, rows)}")
    if any(row[-1] == "no" for row in rows):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
