"""Reasons on fabrics on which nothing is free, which is where they are asked for most."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fourleaf.cli.render.queue import ROW_WIDTH, queue_lines
from fourleaf.k8s_bridge.runtime.api_text import reason_text
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import PlanStatus, Waiting
from fourleaf.model.reasons.json import reason_document
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain
from tests.cli.made import text
from tests.small import fabric, gang, snapshot

MOST_WORDS = 60
"""Three lines of a terminal hold so many."""


def full(seed: int) -> Snapshot:
    """A fabric of 16 to 988 nodes, full but for one here and there, and gangs that wait."""
    rnd = random.Random(seed)  # noqa: S311 - no secret
    leaves, size = rnd.choice([4, 12, 26]), rnd.choice([4, 16, 38])
    where = fabric([[size] * (leaves // 2)] * 2)
    names, running = list(where.nodes), []
    while names:
        owner = GangKey("research", f"run-{len(names)}")
        some = min(len(names), rnd.choice([1, 4, 16]))
        for node in [names.pop() for _ in range(some)]:
            if rnd.random() > 0.02:
                request = Resources(gpus=8)
                running.append(RunningPod("research", f"{owner.name}-{node}", node, request, owner))
    sizes = [one for one in (2, 4, 16, 64, 512) if one <= leaves * size // 2]
    return snapshot(where, *(gang(f"w-{one}", one) for one in sizes), running=tuple(running))


def row(one: Waiting, of: Gang) -> str:
    """The row of the queue of a gang that has waited for an hour."""
    entry: dict[str, Any] = {
        "namespace": one.gang.namespace,
        "name": one.gang.name,
        "priority": 100,
        "gpus": of.gpus,
        "pods": of.roles[0].size,
        "since": 0.0,
        **reason_document(one.reason),
    }
    return text(list(queue_lines([entry], 3600.0))[1:], width=200)


@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.deep)], ids=["some", "200"]
)
def test_a_reason_is_short_and_says_what_would_let_the_gang_start(seeds: range) -> None:
    """Whole words, at most three lines, first what helps; one row of the queue for each gang."""
    for seed in seeds:
        world = full(seed)
        plan = explain(world, greedy_plan(world))
        assert plan.status is PlanStatus.GREEDY
        for one in plan.waiting:
            said = reason_text(one.reason)
            assert ". To unblock: " in said, said
            assert said.index(". To unblock: ") < len(said.partition(". Nearest: ")[0]), said
            assert "..." not in said, said
            assert len(said.split()) <= MOST_WORDS, said
            line = row(one, world.gangs_by_key[one.gang])
            assert line.count("\n") == 1, line
            assert len(line.rstrip()) <= ROW_WIDTH, line
            assert one.reason.unblock[0].split()[0] in line, line
