"""Greedy: legal on everything, never better than the proven optimum, and tight by hand."""

import time
from itertools import count
from types import SimpleNamespace

import pytest

from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import cause
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import validate, who_values
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from tests.instances import random_snapshot

NODE = Resources(gpus=8, cpu=64_000, memory=1 << 40, pods=110)


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_legal_and_never_better(first: int) -> None:
    """On fifty snapshots no law is broken, and no tier gets more than the proven most."""
    for seed in range(first, first + 50):
        snapshot = random_snapshot(seed)
        greedy, best = greedy_plan(snapshot), solve(snapshot)
        assert not validate(snapshot, greedy), seed
        assert best is not None
        mine, most = who_values(snapshot, greedy), who_values(snapshot, best)
        tiers = sorted({*mine, *most}, reverse=True)
        assert [mine.get(t, 0) for t in tiers] <= [most.get(t, 0) for t in tiers], seed


def test_what_is_placed_at_the_deadline_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for two gangs of four: two are placed, legally; the others say that nobody looked."""
    leaf = Leaf("a", "s", tuple(Node(f"a{i}", "a", "s", NODE) for i in range(4)))
    gangs = tuple(Gang(GangKey("ml", f"g{i}"), (Role((f"g{i}-0",), NODE),)) for i in range(4))
    world = Snapshot(Fabric((leaf,)), gangs=gangs)
    # Far ahead, so that no gang's share of the time is over.
    ticks = count(time.monotonic() + 1e6)
    clock = SimpleNamespace(monotonic=lambda: next(ticks))
    monkeypatch.setattr("fourleaf.solver.batch.greedy.time", clock)
    plan = greedy_plan(world, until=next(ticks) + 3)
    monkeypatch.undo()
    assert [one.gang.name for one in plan.placements] == ["g0", "g1"]
    assert validate(world, plan) == ()
    told = explain(world, plan)
    assert [cause(one.reason) for one in told.waiting] == [
        "no place was found before the time limit; there may be one: not looked at in time"
    ] * 2


def test_reasons_stop_at_their_deadline() -> None:
    """A gang that is not asked about in time keeps what the plan says of it."""
    leaf = Leaf("a", "s", (Node("a0", "a", "s", NODE),))
    gang = Gang(GangKey("ml", "wide"), (Role(("p0", "p1"), NODE),))
    world = Snapshot(Fabric((leaf,)), gangs=(gang,))
    plan = greedy_plan(world)
    assert explain(world, plan, until=0.0) == plan
    assert explain(world, plan).waiting[0].reason.kind is ReasonKind.TOO_LARGE


def test_the_tightest_leaf_is_taken() -> None:
    """One node is free in leaf a and four in leaf b: a gang of one pod takes the one in a."""
    leaves = tuple(
        Leaf(name, "s", tuple(Node(f"{name}{i}", name, "s", NODE) for i in range(4)))
        for name in ("b", "a")
    )
    request = Resources(gpus=8, cpu=1000, memory=1 << 30, pods=1)
    running = tuple(RunningPod("x", f"p{i}", f"a{i}", request) for i in range(3))
    gang = Gang(GangKey("ml", "g"), (Role(("g-0",), request),))
    plan = greedy_plan(Snapshot(Fabric(leaves), running, (gang,)))
    assert plan.placements[0].pods == (("g-0", "a3"),)
