"""The webhook under load: `python -m benchmarks.webhook [--seconds 30] [--write]`.

One `fourleaf webhook` process on a control plane from source, both on this machine. *Reviews*:
a mutation and then a validation of a pod of 3 KiB for each of 200 creations a second, over TLS.
*Creations*: 100 pods a second created through the API server, once for our scheduler, so that it
asks the webhook twice, and once for another, so that it does not. *Swapped*: 50 requests a second,
each with a handshake of its own, while certificate and key are replaced every 2 s. Requests
start at their time, late or not; milliseconds run from when each was due.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.results import markdown, write_tables
from benchmarks.throughput.contenders import plane
from benchmarks.webhook.turns import (
    Turn,
    creations,
    new_pair,
    own_authority,
    reviews,
    swaps,
    write,
)
from tests.controlplane.plane import ControlPlane
from tests.e2e.hook import Hook, Scene, namespace

GOAL_MS = 50.0
HEADER = [
    "case",
    "requests",
    "failed",
    "p50 ms",
    "p99 ms",
    "worst ms",
    "cores",
    "MiB",
    "goal",
    "met",
]
Row = list[str]


def measured(length: float, folder: Path, control: ControlPlane) -> list[Row]:
    """One row a case."""
    scene = Scene(control, folder)
    rows = []
    with scene.api, scene.hook() as hook:
        scene.wait()
        turn = asyncio.run(reviews(hook, control, length))
        rows.append(row("reviews, 200 creations/s", turn, f"p99 < {GOAL_MS:g} ms", in_time(turn)))
        for name, scheduler in (("ours", "gpu-scheduler"), ("another's", "default-scheduler")):
            into = namespace(scene.api, enforce="true")
            turn = asyncio.run(creations(hook, control, into, scheduler, length))
            rows.append(row(f"creations through the API server, 100/s, {name}", turn))
    authority = own_authority()
    certificates = folder / "certificates"
    certificates.mkdir()
    write(certificates, new_pair(authority))
    with Hook(control, folder, "--cert-dir", str(certificates), own=False) as hook:
        turn = asyncio.run(swaps(hook, certificates, authority, length))
        name = f"handshakes, certificate swapped {turn.swaps} times"
        rows.append(row(name, turn, "0 failed", not turn.seconds.failures))
    return rows


def in_time(turn: Turn) -> bool:
    """Whether the goal is met."""
    return not turn.seconds.failures and turn.seconds.at(0.99) < GOAL_MS


def row(name: str, turn: Turn, goal: str = "", met: bool | None = None) -> Row:
    """A row of the table; what failed is printed at once."""
    seconds = turn.seconds
    for failure in sorted(set(seconds.failures))[:5]:
        print(f"{name}: {failure}")
    figures = [f"{seconds.at(share):.1f}" for share in (0.5, 0.99, 1.0)]
    total = len(seconds.took) + len(seconds.failures)
    said = "" if met is None else "yes" if met else "no"
    costs = [f"{turn.cores:.2f}", f"{turn.memory:.0f}"]
    return [name, str(total), str(len(seconds.failures)), *figures, *costs, goal, said]


def main(
    seconds: Annotated[float, typer.Option(help="How long each case lasts.")] = 30.0,
    write_results: Annotated[bool, typer.Option("--write", help="Write the tables.")] = False,
) -> None:
    """Measure, and print the figures beside the goals."""
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        rows = measured(seconds, Path(folder), control)
    for one in [HEADER, *rows]:
        print(" | ".join(one))
    if write_results:
        text = (__doc__ or "").split(chr(10), 2)[2].strip()
        write_tables("webhook", "The webhook under load", f"{text}\n\n{markdown(HEADER, rows)}")


if __name__ == "__main__":
    typer.run(main)
