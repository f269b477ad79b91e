"""Gangs on hold are not the solver's business."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.scheduling.holds.held_gangs import HeldGangs
from fourleaf.model.gang import Gang, Hold
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot
from tests import small
from tests.k8s_bridge.relocation.bench import TEAM, Bench


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """One leaf of four nodes."""
    one = Bench(1, 1)
    yield one
    await one.stop()


def held(name: str, detail: str = "a gate") -> Gang:
    """A gang on hold."""
    return replace(small.gang(name, 1), hold=Hold(ReasonKind.GATED, detail, (), ("lift it",)))


def test_a_gang_that_stays_as_it_is_keeps_its_answer() -> None:
    """Of two on hold one changes: its answer is another one, that of the other the very same."""
    gangs, able = HeldGangs(), small.gang("able", 1)
    stays, goes = held("stays"), held("goes")
    rest, before = gangs.apart(small.snapshot(small.fabric([[1]]), able, stays, goes))
    assert rest.gangs == (able,)
    assert [(one.gang, one.reason.detail) for one in before] == [
        (stays.key, "a gate"),
        (goes.key, "a gate"),
    ]
    changed = held("goes", "another gate")
    _, after = gangs.apart(small.snapshot(small.fabric([[1]]), able, stays, changed))
    assert after[0] is before[0]
    assert after[1].reason.detail == "another gate"


def test_without_any_the_snapshot_stays_as_it_is() -> None:
    """What the snapshot has worked out of nodes and pods is not worked out again."""
    snapshot = small.snapshot(small.fabric([[1]]), small.gang("able", 1))
    assert HeldGangs().apart(snapshot) == (snapshot, ())
    assert HeldGangs().apart(snapshot)[0] is snapshot


async def test_the_solver_does_not_see_them(bench: Bench) -> None:
    """A gang that lacks a member is told so, and the solver gets the one beside it alone."""
    solved: list[Snapshot] = []
    plan = bench.solved.plan

    async def seen(snapshot: Snapshot) -> Plan:
        solved.append(snapshot)
        return await plan(snapshot)

    bench.solved.plan = seen  # type: ignore[method-assign]
    await bench.start()
    await submit(bench.cluster, TEAM, gang("half", 2, 1)[:1])
    await bench.clock.advance(3)
    assert solved == []
    await submit(bench.cluster, TEAM, gang("whole", 2, 1))
    await bench.clock.advance(3)
    assert [[one.key.name for one in snapshot.gangs] for snapshot in solved] == [["whole"]]
    half = await bench.cluster.get(PODS, Target(TEAM, "half-0"))
    (condition,) = half["status"]["conditions"]
    assert "1 of 2" in condition["message"]
