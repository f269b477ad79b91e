"""What brings gangs back that stand aside, and what bounds that; small worlds, no cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.scheduling import set_aside
from fourleaf.k8s_bridge.scheduling.set_aside import SetAside
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from tests import small


def waiting(kind: ReasonKind, *gangs: Gang) -> Plan:
    """A plan that places none, in which these gangs wait for one reason."""
    return Plan(PlanStatus.OPTIMAL, (), tuple(Waiting(one.key, Reason(kind)) for one in gangs))


def left(aside: SetAside, world: Snapshot) -> list[str]:
    """The gangs that are to be looked at."""
    return [one.key.name for one in aside.without(world)[0].gangs]


@pytest.mark.parametrize(
    ("kind", "is_kept"),
    [
        (ReasonKind.NAMESPACE_LIMIT, False),
        (ReasonKind.NOT_IN_BATCH, False),
        (ReasonKind.OUTRANKED, False),
        (ReasonKind.NOT_PROVEN, False),
        (ReasonKind.NO_FREE_CAPACITY, True),
    ],
)
def test_what_holds_in_one_cycle_alone_is_asked_again(kind: ReasonKind, is_kept: bool) -> None:
    """A namespace that had used up its time has some a minute later, though nothing changed."""
    world = small.snapshot(small.fabric([[4]]), small.gang("g", 1))
    aside, plan = SetAside(), waiting(kind, *world.gangs)
    batch, _ = aside.without(world)
    aside.note(batch, plan)
    assert (aside.fruitless(batch) is plan) is is_kept
    runs = RunningPod("ml", "p", "a0", Resources(gpus=1), GangKey("ml", "p"))
    assert aside.fruitless(replace(batch, running=(runs,))) is None


def test_half_of_the_room_of_a_namespace_is_for_who_was_not_looked_at() -> None:
    """Of eight that stand aside two come back with a node, of the four that the namespace may have.

    Were all four of them old ones, none that is new had its turn while nodes come and go.
    """
    old = tuple(small.gang(f"old{i}", i + 1) for i in range(8))
    limits = {"batch": {"size": 20}, "namespaces": {"ml": {"maxGangs": 4}}}
    out = small.gang("out", 1)
    world = small.snapshot(small.fabric([[4]]), *old, out, **limits)
    aside = SetAside()
    aside.without(world)
    full = waiting(ReasonKind.NO_FREE_CAPACITY, *old)
    limit = Waiting(out.key, Reason(ReasonKind.NAMESPACE_LIMIT))
    assert aside.note(world, replace(full, waiting=(*full.waiting, limit))), "others are next"
    new = tuple(small.gang(f"new{i}", 1) for i in range(3))
    more = replace(world, fabric=small.fabric([[5]]), gangs=(*old, *new))
    found = left(aside, more)
    assert len([name for name in found if name.startswith("old")]) == 2


@pytest.mark.parametrize(
    ("bandwidth", "quota", "is_back"), [(None, None, False), (50, None, True), (None, 24, True)]
)
def test_an_end_may_give_more_than_the_gpus_of_its_node(
    bandwidth: int | None, quota: int | None, is_back: bool
) -> None:
    """A pod of one GPU ends on a node that is full but for it: too little for a gang of 8 a pod.

    It may have held the uplink that one with bandwidth needs, or the quota of its namespace.
    """
    wide = tuple(replace(small.gang(f"g{i}", i + 1), bandwidth=bandwidth) for i in range(3))
    pods = [
        RunningPod("ml", f"p{i}", "a0", Resources(gpus=gpus), GangKey("ml", f"p{i}"))
        for i, gpus in enumerate((7, 1))
    ]
    config = {"batch": {"size": 2}, "namespaces": {"ml": {"gpuQuota": quota}} if quota else {}}
    world = small.snapshot(small.fabric([[1]]), *wide, running=tuple(pods), **config)
    aside = SetAside()
    batch, _ = aside.without(world)
    some = waiting(ReasonKind.NO_FREE_CAPACITY, *wide[:2])
    out = Waiting(wide[2].key, Reason(ReasonKind.NOT_IN_BATCH))
    aside.note(batch, replace(some, waiting=(*some.waiting, out)))
    assert left(aside, world) == ["g2"]
    ended = replace(world, running=tuple(pods[:1]))
    assert ("g0" in left(aside, ended)) is is_back


def test_so_many_kinds_are_remembered_as_hopeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two kinds where one may be kept, none is: a gang like them is looked at when it comes."""
    gangs = tuple(small.gang(f"g{i}", i + 1) for i in range(3))
    world = small.snapshot(small.fabric([[4]]), *gangs, batch={"size": 2})
    for most, looked_at in ((2, ["g2"]), (1, ["g2", "like"])):
        monkeypatch.setattr(set_aside, "MOST_KINDS", most)
        aside = SetAside()
        batch, _ = aside.without(world)
        hopeless = waiting(ReasonKind.NO_MATCHING_NODES, *gangs[:2])
        out = Waiting(gangs[2].key, Reason(ReasonKind.NOT_IN_BATCH))
        aside.note(batch, replace(hopeless, waiting=(*hopeless.waiting, out)))
        like = replace(gangs[0], key=GangKey("ml", "like"))
        assert left(aside, replace(world, gangs=(*gangs, like))) == looked_at
