"""A batch belongs to all namespaces, and no gang takes all the time that there is."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from fourleaf.model.gang import Gang, GangKey, TopologyPolicy
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from fourleaf.model.validator import validate
from fourleaf.model.validator.batch import batch_of
from fourleaf.solver.batch.greedy import NOT_REACHED, greedy_plan
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.instance.gang_classes import GangGroup, GangGroups
from fourleaf.solver.instance.time_share import TimeShareOver, check_time_share, time_share
from tests.small import fabric, gang, snapshot


def of(namespace: str, name: str, created: float, priority: int = 0) -> Gang:
    """A gang of one node."""
    one = gang(name, 1, created=created, priority=priority)
    return replace(one, key=GangKey(namespace, name))


def names(*gangs: Gang, size: int) -> list[str]:
    """The gangs of a batch of so many, in its order; the validator takes the same."""
    world = snapshot(fabric([[4]]), *gangs, batch={"size": size})
    batch = select_batch(world).batch
    assert batch_of(world) == {one.key for one in batch}
    return [one.key.name for one in batch]


def test_namespaces_take_turns_in_a_full_batch() -> None:
    """Five older gangs of one namespace leave room for the two of another, oldest first."""
    many = [of("a", f"a{i}", float(i)) for i in range(5)]
    few = [of("b", f"b{i}", 10.0 + i) for i in range(2)]
    assert names(*many, *few, size=4) == ["a0", "a1", "b0", "b1"]
    assert names(*many, *few, size=3) == ["a0", "a1", "b0"]
    assert names(*many, size=4) == ["a0", "a1", "a2", "a3"]


def test_priority_comes_before_turns() -> None:
    """Urgent gangs fill a batch, whosever they are."""
    urgent = [of("a", f"a{i}", 50.0 + i, priority=1) for i in range(3)]
    assert names(*urgent, of("b", "b0", 0.0), size=3) == ["a0", "a1", "a2"]


def test_a_gang_that_takes_more_than_its_share_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What comes after it is placed, and it is said that it was not looked at to its end."""
    made = GangGroups.of

    def of_gang(self: GangGroups, one: Gang, loose_alone: bool = True) -> GangGroup:
        while one.key.name == "slow":
            check_time_share()
        return made(self, one, loose_alone)

    monkeypatch.setattr(GangGroups, "of", of_gang)
    world = snapshot(fabric([[4]]), of("a", "slow", 0.0), of("b", "quick", 1.0))
    plan = greedy_plan(world, until=time.monotonic() + 2.0)
    assert [one.gang.name for one in plan.placements] == ["quick"]
    assert [one.reason.detail for one in plan.waiting] == [NOT_REACHED]


def test_a_gang_alone_has_all_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes half of it, which is more than its share would be beside others."""
    made, began = GangGroups.of, time.monotonic()

    def of_gang(self: GangGroups, one: Gang, loose_alone: bool = True) -> GangGroup:
        while time.monotonic() < began + 0.5:
            check_time_share()
        return made(self, one, loose_alone)

    monkeypatch.setattr(GangGroups, "of", of_gang)
    plan = greedy_plan(snapshot(fabric([[4]]), of("a", "slow", 0.0)), until=began + 1.0)
    assert [one.gang.name for one in plan.placements] == ["slow"]


def test_a_gang_that_took_its_share_has_what_others_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs half of the time, twice its share: it is placed after the one behind it."""
    made, began = GangGroups.of, time.monotonic()

    def of_gang(self: GangGroups, one: Gang, loose_alone: bool = True) -> GangGroup:
        while one.key.name == "slow" and time.monotonic() < began + 0.5:
            check_time_share()
        return made(self, one, loose_alone)

    monkeypatch.setattr(GangGroups, "of", of_gang)
    world = snapshot(fabric([[4]]), of("a", "slow", 0.0), of("b", "quick", 1.0))
    plan = greedy_plan(world, until=began + 1.0)
    assert {one.gang.name for one in plan.placements} == {"quick", "slow"}


def test_outside_of_a_share_nothing_is_cut_short() -> None:
    """A share ends with its block, however long ago it was over."""
    with pytest.raises(TimeShareOver), time_share(time.monotonic() - 1.0):
        check_time_share()
    check_time_share()


def test_a_gang_of_many_roles_that_no_cluster_holds_is_told_at_once() -> None:
    """Forty members that all differ and ask for 320 GPUs, on 32; what fits beside it starts."""
    big = gang("big", *[1] * 40)
    roles = tuple(
        replace(role, request=replace(role.request, cpu=number))
        for number, role in enumerate(big.roles)
    )
    world = snapshot(fabric([[4]]), replace(big, roles=roles), of("b", "quick", 1.0))
    plan = solve(world)
    assert plan is not None
    reason = explain(world, plan).waiting[0].reason
    assert [one.gang.name for one in plan.placements] == ["quick"]
    assert reason.kind is ReasonKind.TOO_LARGE
    assert reason.detail == "it asks for 320 GPUs, all nodes together have 32"
    assert [one.gang.name for one in greedy_plan(world).placements] == ["quick"]


def test_a_gang_alone_of_too_many_splits_is_placed() -> None:
    """Thirty members that differ: the leaf in the middle is held, those beside it have 32 GPUs."""
    big = replace(gang("big", *[1] * 30), policy=TopologyPolicy.PREFERRED)
    roles = tuple(
        replace(role, request=replace(role.request, gpus=1, cpu=number))
        for number, role in enumerate(big.roles)
    )
    leaves = fabric([[2, 2, 2]])
    held = tuple(
        RunningPod("c", f"r-{i}", node.name, Resources(gpus=8), GangKey("c", f"r-{i}"), ours=True)
        for i, node in enumerate(leaves.leaves[1].nodes)
    )
    world = replace(snapshot(leaves, replace(big, roles=roles)), running=held)
    plan = solve(world)
    assert plan is not None
    assert len(plan.placements) == 1
    assert validate(world, plan) == ()
    assert len(greedy_plan(world).placements) == 1


def test_no_split_of_many_is_looked_for_where_filling_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """150 members that differ ask for 300 GPUs, a spine has 128: whole spines hold them."""
    big = replace(gang("big", *[1] * 150), policy=TopologyPolicy.PREFERRED)
    roles = tuple(
        replace(role, request=replace(role.request, gpus=1 + number % 3, cpu=number))
        for number, role in enumerate(big.roles)
    )
    world = snapshot(fabric([[4] * 4] * 4), replace(big, roles=roles))
    plan = greedy_plan(world)
    assert len(plan.placements) == 1

    def listed(counts: object) -> None:
        raise AssertionError("all splits are listed")

    monkeypatch.setattr("fourleaf.model.validator.locations._below", listed)
    assert validate(world, plan) == ()


def test_more_splits_than_can_be_tried_are_not_tried() -> None:
    """Thirty members that differ fit no leaf; that `Preferred` would help is not searched for."""
    big = gang("big", *[1] * 30)
    roles = tuple(
        replace(role, request=replace(role.request, gpus=1, cpu=7_000 + number))
        for number, role in enumerate(big.roles)
    )
    world = snapshot(fabric([[4], [4]]), replace(big, roles=roles))
    plan = solve(world)
    assert plan is not None
    assert explain(world, plan).waiting[0].reason.kind is ReasonKind.TOO_LARGE
