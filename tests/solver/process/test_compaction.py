"""Summing up the running pods changes no plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.process.compaction import compacted
from tests.instances import random_snapshot


def test_pods_without_gpus_count_once_a_node() -> None:
    """Two small pods of different namespaces become one that asks for both; others stay apart."""
    small = Resources(cpu=500, memory=1, pods=1)
    whole = Resources(gpus=8, pods=1)
    gang = GangKey("ml", "g")
    running = (
        RunningPod("a", "x", "n0", small),
        RunningPod("b", "y", "n0", small),
        RunningPod("a", "z", "n1", small),
        RunningPod("ml", "g-0", "n0", whole, gang, ours=True),
        RunningPod("ml", "h-0", "n1", whole, GangKey("ml", "h"), ours=True),
    )
    found = compacted(running)
    assert [(pod.node, pod.gang, pod.request) for pod in found] == [
        ("n0", None, Resources(cpu=1000, memory=2, pods=2)),
        ("n1", None, small),
        ("n0", gang, whole),
        ("n1", GangKey("ml", "h"), whole),
    ]


def test_the_room_of_summed_pods_is_free_once_all_have_ended() -> None:
    """The last end counts, and none is known where that of one pod is not."""
    small = Resources(cpu=500, memory=1, pods=1)
    ends = {"n0": (100.0, 300.0), "n1": (100.0, None)}
    running = tuple(
        RunningPod("a", f"p{i}", name, small, ends=end)
        for name, both in ends.items()
        for i, end in enumerate(both)
    )
    assert [pod.ends for pod in compacted(running)] == [300.0, None]


@pytest.mark.parametrize("seed", range(150))
def test_the_plan_is_the_same(seed: int) -> None:
    """Placements, objective and bound do not depend on whether pods were summed up."""
    snapshot = random_snapshot(seed)
    plan = solve(snapshot)
    other = solve(replace(snapshot, running=compacted(snapshot.running)))
    assert plan is not None
    assert other is not None
    assert other.placements == plan.placements
    assert (other.objective, other.bound) == (plan.objective, plan.bound)
    assert other.phantoms == plan.phantoms
