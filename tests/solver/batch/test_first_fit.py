"""Who is placed: asking about the scarce gangs alone says the same as asking about all."""

from __future__ import annotations

import pytest

from benchmarks.solve.instances import Shape, snapshots
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.plan import PlanStatus
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import validate, who_values
from fourleaf.solver.batch import select_gangs
from fourleaf.solver.batch import solve as batch
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.cpsat.variables import Model
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.objective.scorer import Scorer

NODE = Resources(gpus=8, cpu=64_000, memory=1 << 40, pods=110)


def fabric(leaves: int, nodes: int) -> Fabric:
    """Leaves of so many nodes under one spine, each next to the one before."""
    return Fabric(
        tuple(
            Leaf(f"l{i}", "s", tuple(Node(f"n{i}{j}", f"l{i}", "s", NODE) for j in range(nodes)))
            for i in range(leaves)
        )
    )


def gang(name: str, pods: int, gpus: int = 8, priority: int = 0) -> Gang:
    """A gang of equal pods."""
    request = Resources(gpus=gpus, cpu=gpus * 1000, memory=gpus << 30, pods=1)
    role = Role(tuple(f"{name}-{i}" for i in range(pods)), request)
    return Gang(GangKey("ml", name), (role,), priority=priority)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many groups each model of "who" holds, model by model."""
    held: list[int] = []

    def noted(
        state: CycleState, groups: list[GangGroup], refined: frozenset[int], scorer: Scorer
    ) -> Model:
        held.append(len(groups))
        return build(state, groups, refined, scorer)

    monkeypatch.setattr(select_gangs, "build", noted)
    return held


def placed(snapshot: Snapshot) -> set[str]:
    """Names of the gangs that the solve places, after checking the plan."""
    plan = solve(snapshot)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert not validate(snapshot, plan)
    return {placement.gang.name for placement in plan.placements}


def test_gangs_with_plenty_of_room_need_no_model(models: list[int]) -> None:
    """A gang over two leaves is asked about; the five that sit in one leaf find room beside it."""
    gangs = (gang("wide", 8), *(gang(f"g{i}", 1, gpus=4) for i in range(5)))
    assert len(placed(Snapshot(fabric(3, 4), gangs=gangs))) == 6
    assert models[0] == 1


def test_those_that_find_no_room_are_asked_about(models: list[int]) -> None:
    """The gang over both leaves would leave no node for the one that matters more."""
    gangs = (gang("wide", 4), gang("small", 1, priority=1))
    assert placed(Snapshot(fabric(2, 2), gangs=gangs)) == {"small"}
    assert models[:2] == [1, 2]


def test_a_gang_without_any_place_is_not_counted(models: list[int]) -> None:
    """Three whole nodes fit nowhere while two of four are taken; one does."""
    running = tuple(RunningPod("ml", f"p{i}", f"n0{i}", NODE) for i in range(2))
    gangs = (gang("three", 3), gang("one", 1))
    assert placed(Snapshot(fabric(1, 4), running, gangs)) == {"one"}
    assert models[0] == 0


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_as_many_as_with_one_model(monkeypatch: pytest.MonkeyPatch, seed: int, parts: bool) -> None:
    """What each priority is worth is the same where all gangs stand in one model."""
    _, snapshot = snapshots(seed, Shape.regular(120), 40, parts)
    plan = solve(snapshot)
    monkeypatch.setattr(select_gangs, "plain", lambda _: False)
    whole = solve(snapshot)
    assert plan is not None
    assert whole is not None
    assert plan.status is whole.status is PlanStatus.OPTIMAL
    assert who_values(snapshot, plan) == who_values(snapshot, whole)


@pytest.mark.parametrize("seed", range(4))
def test_their_seats_obey_every_law(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Where no time is left for the best places, the seats found for counting are a plan.

    It says of each gang what its place is worth to it, whatever others count along with it.
    """
    _, snapshot = snapshots(seed, Shape.regular(120), 40, True)
    best = solve(snapshot)
    monkeypatch.setattr(batch, "place_gangs", lambda *_: None)
    plan = solve(snapshot)
    assert plan is not None
    assert best is not None
    assert not validate(snapshot, plan)
    assert who_values(snapshot, plan) == who_values(snapshot, best)
