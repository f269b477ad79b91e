"""The batch solve: limits, stages and order, on small fabrics worked out by hand."""

from dataclasses import replace

import pytest

from fourleaf.model.config.spec import Batch, SchedulerConfig, Solver, Spec
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.plan import PlanStatus
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import validate, who_values
from fourleaf.solver.batch import solve as batch
from fourleaf.solver.batch.solve import solve

NODE = Resources(gpus=8, cpu=64_000, memory=1 << 40, pods=110)
POD = Resources(gpus=8, cpu=8_000, memory=1 << 33, pods=1)


def fabric(leaves: int) -> Fabric:
    """Leaves of four nodes under one spine."""
    return Fabric(
        tuple(
            Leaf(f"l{i}", "s", tuple(Node(f"n{i}{j}", f"l{i}", "s", NODE) for j in range(4)))
            for i in range(leaves)
        )
    )


def gang(name: str, pods: int, priority: int = 0, created: float = 0.0) -> Gang:
    """A gang of whole-node pods."""
    role = Role(tuple(f"{name}-{i}" for i in range(pods)), POD)
    return Gang(GangKey("ml", name), (role,), priority=priority, created=created)


def placed(snapshot: Snapshot) -> set[str]:
    """Names of the gangs that the solve places, after checking the plan."""
    plan = solve(snapshot)
    assert plan is not None
    assert not validate(snapshot, plan)
    return {placement.gang.name for placement in plan.placements}


def test_priority_beats_any_number_of_gpus() -> None:
    """One node for a high priority is worth more than the four that a lower one would take."""
    snapshot = Snapshot(fabric(1), gangs=(gang("big", 4), gang("small", 1, priority=1)))
    assert placed(snapshot) == {"small"}


def test_within_a_tier_the_greater_value_wins() -> None:
    """Four nodes at once (value 512) beat one gang of two (256) where only one of them fits."""
    snapshot = Snapshot(fabric(1), gangs=(gang("two", 2), gang("four", 4)))
    assert placed(snapshot) == {"four"}


def test_ties_go_to_the_oldest() -> None:
    """Of three gangs alike with room for two, the two oldest are placed."""
    gangs = (gang("c", 2, created=3.0), gang("a", 2, created=1.0), gang("b", 2, created=2.0))
    assert placed(Snapshot(fabric(1), gangs=gangs, now=5.0)) == {"a", "b"}


def test_many_tiers_stay_lexicographic() -> None:
    """Thirty priorities need several common solves, and still none overtakes a higher one."""
    gangs = tuple(gang(f"g{i:02d}", 1, priority=i) for i in range(30))
    snapshot = Snapshot(fabric(3), gangs=gangs)
    plan = solve(snapshot)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert {p.gang.name for p in plan.placements} == {f"g{i:02d}" for i in range(18, 30)}
    assert {p for p, value in who_values(snapshot, plan).items() if value} == set(range(18, 30))
    assert [stage.name for stage in plan.stages][:2] == ["who 29", "who 28"]


def test_the_batch_is_limited_and_says_so() -> None:
    """With a batch of one the second gang waits for the next cycle though it would fit."""
    config = SchedulerConfig(spec=Spec(batch=Batch(size=1)))
    snapshot = Snapshot(fabric(1), gangs=(gang("a", 1), gang("b", 1)), config=config)
    plan = solve(snapshot)
    assert plan is not None
    assert [w.reason.kind for w in plan.waiting] == [ReasonKind.NOT_IN_BATCH]


def test_without_time_for_where_the_gangs_are_placed_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the best places are not found in time, any legal ones serve, with an honest bound."""
    monkeypatch.setattr(batch, "place_gangs", lambda *_: None)
    snapshot = Snapshot(fabric(2), gangs=(gang("a", 4), gang("b", 2)))
    plan = solve(snapshot)
    assert plan is not None
    assert plan.status is PlanStatus.FEASIBLE
    assert len(plan.placements) == 2
    assert not validate(snapshot, plan)
    monkeypatch.undo()
    best = solve(snapshot)
    assert best is not None
    assert plan.objective <= best.objective <= plan.bound
    assert plan.gap > 0


def test_no_time_at_all_means_no_plan() -> None:
    """A limit that ends before anything is found gives nothing, so that greedy serves."""
    gangs = tuple(gang(f"g{i}", 1 + i % 5) for i in range(60))
    config = SchedulerConfig(spec=Spec(solver=Solver(time_limit_seconds=1e-9)))
    plan = solve(Snapshot(fabric(40), gangs=gangs, config=config))
    assert plan is None or plan.status is not PlanStatus.OPTIMAL


def test_the_order_of_the_input_changes_nothing() -> None:
    """The same gangs in another order give the same plan."""
    gangs = tuple(gang(f"g{i}", 1 + i % 4, priority=i % 2) for i in range(9))
    first = solve(Snapshot(fabric(4), gangs=gangs))
    second = solve(Snapshot(fabric(4), gangs=tuple(reversed(gangs))))
    assert first is not None
    assert second is not None
    assert replace(first, stages=(), waiting=()).placements == second.placements
    assert first.objective == second.objective


def test_single_pods_of_many_gangs_share_a_node() -> None:
    """One pod per node is a law within a gang: gangs of one pod each may share a node."""
    small = Role(("pod",), replace(POD, gpus=1, cpu=1_000))
    gangs = tuple(Gang(GangKey("ml", name), (small,), one_per_node=True) for name in "abcdefg")
    one_node = Fabric((Leaf("l", "s", (Node("n", "l", "s", NODE),)),))
    assert placed(Snapshot(one_node, gangs=gangs)) == set("abcdefg")


@pytest.mark.parametrize("gpus", [10**8, 10**18])
def test_a_pod_of_any_size_costs_the_others_nothing(gpus: int) -> None:
    """A pod that asks for more GPUs than there are, by any factor: the other stands, proven."""
    role = Role(("huge",), Resources(gpus=gpus))
    huge = Gang(GangKey("evil", "huge"), (role,))
    plan = solve(Snapshot(fabric(1), (), (huge, gang("good", 4))))
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert {one.gang.name for one in plan.placements} == {"good"}
