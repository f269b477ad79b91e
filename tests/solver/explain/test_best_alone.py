"""The best places of a gang by itself, against an exhaustive search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.gang import TopologyPolicy
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import Law, score, validate
from fourleaf.solver.explain.best_alone import BestAlone
from tests.instances import random_snapshot
from tests.oracle.brute import best_where
from tests.small import NOTHING, fabric, gang, seats, snapshot


def alone(seed: int) -> Snapshot | None:
    """A random snapshot with its first gang of one role, free of device wishes; else None."""
    world = random_snapshot(seed)
    fragmentation = world.config.spec.fragmentation.model_copy(update={"weight": 0})
    spec = world.config.spec.model_copy(update={"fragmentation": fragmentation})
    for one in world.gangs:
        plain = len(one.roles) == 1 and one.roles[0].pods and one.hold is None
        if plain and one.policy is TopologyPolicy.REQUIRED:
            config = world.config.model_copy(update={"spec": spec})
            return replace(world, gangs=(one,), config=config)
    return None


@pytest.mark.parametrize("seed", range(40))
def test_the_best_place_is_the_best_of_all(seed: int) -> None:
    """For gangs of one role it is worth what the oracle finds by trying every seat, and legal."""
    world = alone(seed)
    if world is None:
        pytest.skip("this snapshot has no waiting gang of one role")
    (one,) = world.gangs
    try:
        best = best_where(world, {one.key})
    except RuntimeError:
        pytest.skip("too many seats to try them all")
    found = BestAlone(world, NOTHING).best(one)
    if best is None:
        assert found is None or _breaks_quota(world, found)
        return
    assert found is not None
    assert sum(score(world, one, found).values()) == best
    assert not _breaches(world, found)


def _breaches(world: Snapshot, pods: tuple[tuple[str, str], ...]) -> set[Law]:
    """The laws of a single gang that `pods` break."""
    (one,) = world.gangs
    plan = Plan(PlanStatus.GREEDY, (Placement(one.key, pods),))
    unasked = {Law.TERMS, Law.OBJECTIVE, Law.BATCH}
    return {breach.law for breach in validate(world, plan)} - unasked


def _breaks_quota(world: Snapshot, pods: tuple[tuple[str, str], ...]) -> bool:
    """Places are looked for whatever the quota says: of one that runs it is taken already."""
    return _breaches(world, pods) == {Law.QUOTA}


def test_other_leaves_than_those_given() -> None:
    """With leaf `a` half used, `a` is best; besides `a`, `b` is, and besides both there is one."""
    busy = RunningPod("ops", "p", "a0", Resources(gpus=8))
    one = gang("g", 1)
    world = snapshot(fabric([[2, 2]]), one, running=[busy])
    alternatives = BestAlone(world, NOTHING)
    assert alternatives.best(one) == (("g-0-0", "a1"),)
    assert alternatives.best(one, seats(one, ["a1"])) in (
        (("g-0-0", "b0"),),
        (("g-0-0", "b1"),),
    )


def test_no_other_leaves() -> None:
    """Where all other leaves are busy there is nothing beside the place that it has."""
    busy = [RunningPod("ops", f"p{i}", f"b{i}", Resources(gpus=8)) for i in range(2)]
    one = gang("g", 2)
    world = snapshot(fabric([[2, 2]]), one, running=busy)
    assert BestAlone(world, NOTHING).best(one, seats(one, ["a0", "a1"])) is None


def test_a_gang_that_may_use_any_leaves() -> None:
    """With one node free in each leaf, a pair that only prefers one leaf still has a place."""
    busy = [RunningPod("ops", f"p{leaf}", f"{leaf}0", Resources(gpus=8)) for leaf in "ab"]
    one = gang("g", 2, policy=TopologyPolicy.PREFERRED)
    world = snapshot(fabric([[2, 2]]), one, running=busy)
    found = BestAlone(world, NOTHING).best(one)
    assert found is not None
    assert {node for _, node in found} == {"a1", "b1"}
