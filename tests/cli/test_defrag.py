"""`fourleaf defrag`: dry runs on files with the real solver, and asking on the twin."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.verbs.defrag import ask
from fourleaf.k8s_bridge.cache.config_watcher import DEFRAGMENT
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, actors
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.problems import BadInput
from tests.cli.conftest import Run
from tests.cli.test_drain import MOVABLE, cluster, stands

Write = Callable[[str, str], Path]
NOW = "2026-01-01T12:00:00Z"


def scattered(created: str = "2026-01-01T09:00:00Z", waiting: bool = True) -> str:
    """Two leaves of two nodes, in each a movable pod; a pair may wait for a whole leaf."""
    pods = [*stands("a", "n-0-0-0", **MOVABLE), *stands("b", "n-0-1-0", **MOVABLE)]
    if waiting:
        pods += actors.gang("pair", 2)
    for body in pods:
        body["metadata"] |= {"namespace": "ml", "creationTimestamp": created}
    return cluster(2, *pods)


def asked(run: Run, path: Path, *more: str) -> Any:
    """The document of a dry run."""
    told = run("defrag", "-f", path, "--now", NOW, "-o", "json", *more)
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)


def test_one_move_lets_a_pair_start(run: Run, write: Write) -> None:
    """Either pod joins the other, and the pair gets the leaf that is whole then."""
    path = write("in.yaml", scattered())
    told = asked(run, path)
    assert (told["kind"], told["status"], told["cost"]) == ("Defragmentation", "OPTIMAL", 1)
    (move,) = told["moves"]
    leaf, other = move["from"][:5], move["to"][:5]
    assert leaf != other
    (start,) = told["start"]
    assert start["name"] == "pair"
    assert {pod["node"][:5] for pod in start["pods"]} == {leaf}
    assert (told["before"]["leaves"], told["after"]["leaves"]) == (0, 1)
    text = run("defrag", "-f", path, "--now", NOW).stdout
    for part in ("could start  1 gang", "proven best: 1 move,", "before       0", "after        1"):
        assert part in text


def test_no_budget_no_moves(run: Run, write: Write) -> None:
    """With `--moves 0` the pair goes on waiting, and why is said."""
    path = write("in.yaml", scattered())
    told = asked(run, path, "--moves", "0")
    assert (told["budget"], told["moves"], told["start"]) == (0, [], [])
    assert [one["name"] for one in told["waiting"]] == ["pair"]
    assert "still waiting  1 gang" in run("defrag", "-f", path, "--moves", "0").stdout


def test_who_has_just_started_does_not_move(run: Run, write: Write) -> None:
    """The config says 30 minutes; these gangs have run for one."""
    told = asked(run, write("in.yaml", scattered("2026-01-01T11:59:00Z")))
    assert (told["movable"], told["young"], told["moves"]) == (0, 2, [])


def test_room_is_made_where_nobody_waits(run: Run, write: Write) -> None:
    """For likely pairs a whole leaf is worth a move."""
    mix = {"fragmentation": {"weight": 0.5, "mix": [{"nodes": 2, "share": 1}]}}
    config = {
        "apiVersion": "topology.scheduler/v1alpha1",
        "kind": "SchedulerConfig",
        "spec": mix,
    }
    text = scattered(waiting=False) + "---\n" + yaml.safe_dump(config)
    told = asked(run, write("in.yaml", text))
    assert len(told["moves"]) == 1
    assert (told["before"]["leaves"], told["after"]["leaves"]) == (0, 1)


@pytest.mark.parametrize(
    "words",
    [
        ("--dry-run", "--apply"),
        ("--apply", "--moves", "3"),
        ("--apply", "-f", "x"),
        ("--moves", -1),
    ],
)
def test_what_does_not_go_together(run: Run, words: tuple[object, ...]) -> None:
    """Such options are refused before anything is read."""
    assert run("defrag", *words).exit_code == 2


async def test_the_scheduler_is_asked_by_its_config() -> None:
    """The ConfigMap gets the moment as an annotation, and nothing else of it changes."""
    made = MemoryCluster()
    body = {"metadata": {"name": CONFIG_MAP}, "data": {"a": "b"}}
    await made.create(CONFIG_MAPS, "kube-system", body)
    await ask(made, ClusterAccess(), datetime(2026, 1, 1, 12, tzinfo=UTC))
    found = await made.get(CONFIG_MAPS, Target("kube-system", CONFIG_MAP))
    assert found["metadata"]["annotations"] == {DEFRAGMENT: NOW}
    assert found["data"] == {"a": "b"}


async def test_without_a_config_map_nobody_can_be_asked() -> None:
    """It is not made up: the advice says how to."""
    with pytest.raises(BadInput, match=r"topology-scheduler-config.*does not exist") as bad:
        await ask(MemoryCluster(), ClusterAccess(), datetime(2026, 1, 1, tzinfo=UTC))
    assert "fourleaf config show" in bad.value.problems[0].advice
