"""`fourleaf queue --start` on files, with the real solver."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.cli.render.queue import start_text
from fourleaf.k8s_bridge.cluster.memory import actors
from tests.cli.conftest import Run

Write = Callable[[str, str], Path]
NOW = "2026-01-01T12:00:00Z"
DURATION = "topology.scheduler/expected-duration"


def runs(name: str, node: str, duration: str = "") -> dict[str, Any]:
    """A pod of its own that has run on `node` since ten o'clock."""
    said = {DURATION: duration} if duration else {}
    body = actors.pod(name, creationTimestamp="2026-01-01T09:00:00Z", annotations=said)
    body["spec"]["nodeName"] = node
    body["status"] = {"phase": "Running", "startTime": "2026-01-01T10:00:00Z"}
    return body


def waits(name: str, size: int, minute: int, **said: str) -> list[dict[str, Any]]:
    """A gang that was created some minutes after eleven."""
    bodies = actors.gang(name, size, **said)
    for body in bodies:
        body["metadata"]["creationTimestamp"] = f"2026-01-01T11:{minute:02}:00Z"
    return bodies


def cluster(*pods: dict[str, Any]) -> str:
    """One leaf of two nodes, and these pods."""
    nodes = [one | {"apiVersion": "v1", "kind": "Node"} for one in actors.nodes(1, 1, 2)]
    listed = [one | {"apiVersion": "v1", "kind": "Pod"} for one in pods]
    for one in listed:
        one["metadata"]["namespace"] = "ml"
    return yaml.safe_dump_all([*nodes, *listed])


def test_each_gang_is_told_when_it_could_start(run: Run, write: Write) -> None:
    """The pair starts when the pod with 2 h 25 min left has ended; who is shorter starts now.

    The last one waits for the pair, which nobody says the end of.
    """
    path = write(
        "in.yaml",
        cluster(
            runs("busy", "n-0-0-0", "4h25m"),
            *waits("pair", 2, 0),
            *waits("short", 1, 1, **{DURATION: "2h"}),
            *waits("last", 1, 2),
        ),
    )
    words = ("queue", "-f", path, "--start", "--now", NOW)
    told = run(*words, "-o", "json")
    assert told.exit_code == 0, told.output
    starts = {one["name"]: one["start"] for one in json.loads(told.stdout)["gangs"]}
    assert list(starts) == ["pair", "short", "last"]
    pair = starts["pair"]
    assert (pair["at"], pair["seconds"]) == ("2026-01-01T14:25:00Z", 8700)
    assert sorted(pair["nodes"]) == ["n-0-0-0", "n-0-0-1"]
    assert (starts["short"]["seconds"], starts["short"]["nodes"]) == (0, ["n-0-0-1"])
    assert starts["last"] == {
        "at": None,
        "seconds": None,
        "nodes": [],
        "waitsFor": ["ml/pair"],
        "held": False,
        "proven": True,
    }
    rows = run(*words).stdout.splitlines()
    assert rows[0].split() == ["gang", "priority", "pods", "GPUs", "age", "start", "reason"]
    assert [row.split("?")[0].split()[5:] for row in rows[1:]] == [
        ["in", "2", "h", "25", "min"],
        ["now"],
        ["unknown"],
    ]
    assert rows[-1].endswith("?  waits for gangs without a stated end: ml/pair")


def test_without_the_option_nothing_is_solved(run: Run, write: Write) -> None:
    """The queue of files, as that of a cluster, has no starts unless they are asked for."""
    path = write("in.yaml", cluster(*waits("pair", 2, 0)))
    (one,) = json.loads(run("queue", "-f", path, "-o", "json").stdout)["gangs"]
    assert (one["name"], "start" in one) == ("pair", False)


def test_a_gang_that_no_end_helps(run: Run, write: Write) -> None:
    """Three nodes are wanted of two."""
    path = write("in.yaml", cluster(*waits("big", 3, 0)))
    told = run("queue", "-f", path, "--start", "--now", NOW).stdout
    assert "unknown  ?  it would find no place even if all other gangs ended" in told


def test_a_scheduler_is_not_asked_for_starts(run: Run) -> None:
    """Whoever names a server is told that it goes with neither files nor starts."""
    told = run("queue", "--server", "http://127.0.0.1:1", "--start")
    assert told.exit_code == 2
    assert "neither --start nor -f" in told.stderr


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "unknown"),
        (0, "now"),
        (1, "in 1 min"),
        (1500, "in 25 min"),
        (3541, "in 1 h"),
        (11400, "in 3 h 10 min"),
        (47 * 3600, "in 47 h"),
        (52 * 3600 + 60, "in 2 d 4 h"),
    ],
)
def test_how_starts_are_written(seconds: int | None, text: str) -> None:
    """Minutes are rounded up."""
    assert start_text({"seconds": seconds}) == text
