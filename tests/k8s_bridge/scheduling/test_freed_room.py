"""Where pods end, gangs that may have a place for that are looked at again, and no others."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from fourleaf.k8s_bridge.scheduling.set_aside import SetAside
from fourleaf.model.extensions import NO_EXTENSIONS
from fourleaf.model.gang import Gang, TopologyPolicy
from fourleaf.model.node_constraint import (
    NODE_NAME_FIELD,
    NodeConstraint,
    Operator,
    Requirement,
)
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.freed_leaves import FreedLeaves
from fourleaf.solver.instance.gang_classes import gang_groups_for
from tests import small


class Desk:
    """Cycles over a world, with the real solver; what is planned runs in the next one."""

    def __init__(self, world: Snapshot) -> None:
        self.world = world
        self.asked: list[str] = []
        self.told: dict[str, Waiting] = {}
        self._aside = SetAside()

    def cycle(self, takes: bool = True) -> str:
        """Plan once; the gangs that were placed. Where it does not take, they go on waiting."""
        batch, aside = self._aside.without(self.world)
        self.asked = [one.key.name for one in batch.gangs]
        plan = solve(batch)
        assert plan is not None
        plan = explain(batch, plan)
        self._aside.note(batch, plan)
        self.told = {one.gang.name: one for one in (*plan.waiting, *aside)}
        if takes:
            self._commit(plan)
        return " ".join(one.gang.name for one in plan.placements)

    def ends(self, *nodes: str) -> None:
        """What runs on these nodes ends."""
        left = tuple(pod for pod in self.world.running if pod.node not in nodes)
        self.world = replace(self.world, running=left)

    def goes(self, name: str) -> None:
        """A gang that waits goes."""
        left = tuple(one for one in self.world.gangs if one.key.name != name)
        self.world = replace(self.world, gangs=left)

    def _commit(self, plan: Plan) -> None:
        world = self.world
        placed = {one.gang for one in plan.placements}
        more = (
            RunningPod("ml", pod, node, small.WHOLE, one.gang, ours=True)
            for one in plan.placements
            for pod, node in one.pods
        )
        gangs = tuple(one for one in world.gangs if one.key not in placed)
        self.world = replace(world, running=(*world.running, *more), gangs=gangs)


def full(*gangs: Gang, **spec: Any) -> Desk:
    """Two leaves of four nodes, `a` and `b`, all of them taken, and gangs that wait for room."""
    fabric = small.fabric([[4, 4]])
    desk = Desk(small.snapshot(fabric, *gangs, **spec))
    taken = (RunningPod("ml", f"on-{name}", name, small.WHOLE) for name in fabric.nodes)
    desk.world = replace(desk.world, running=tuple(taken))
    for _ in range(len(gangs) + 1):
        assert desk.cycle() == ""
    assert desk.asked == []
    return desk


def test_who_has_no_place_for_it_is_not_asked() -> None:
    """One node of `a` is left: the gang of one node is asked and placed, that of three is not.

    It is told anew once, for `a` is the leaf that its reason names. A second node, in `b`, makes
    no place for three either.
    """
    desk = full(small.gang("one", 1), small.gang("three", 3))
    assert desk.told["three"].reason.near[0].leaf == "a"
    desk.ends("a0")
    assert desk.cycle() == "one"
    assert desk.asked == ["one", "three"]
    desk.ends("b0")
    assert desk.cycle() == ""
    assert desk.asked == []
    desk.ends("b1", "b2")
    assert desk.cycle() == "three"


def test_of_those_alike_as_many_are_asked_as_there_are_places() -> None:
    """Of five gangs of two nodes, the oldest alone is asked for the two that are left.

    The next one is where the plan did not take, and where the oldest one goes.
    """
    gangs = [replace(small.gang(f"g{i}", 2), created=float(i)) for i in (3, 0, 4, 1, 2)]
    desk = full(*gangs)
    desk.ends("a0", "a1")
    assert desk.cycle(takes=False) == "g0"
    assert "g4" not in desk.asked
    desk.goes("g0")
    assert desk.cycle() == "g1"


def test_the_others_are_looked_at_where_the_first_is_held() -> None:
    """The oldest was planned and then goes on hold: nothing ends, and the second one starts."""
    desk = full(*(replace(small.gang(f"g{i}", 1), created=float(i)) for i in range(4)))
    desk.ends("b3")
    assert desk.cycle(takes=False) == "g0"
    assert desk.cycle(takes=False) == "g0"
    desk.goes("g0")
    assert desk.cycle() == "g1"
    desk.cycle()
    assert desk.cycle() == ""
    assert desk.asked == []


def test_what_names_a_leaf_is_told_anew_by_one_for_all_alike() -> None:
    """Three gangs of four nodes wait for leaf `a`: of the pods that hold it, one has ended.

    One of the three is asked, and all say that three nodes are held yet.
    """
    desk = full(*(small.gang(f"g{i}", 4) for i in range(3)))
    desk.ends("a0")
    assert desk.cycle() == ""
    assert len(desk.asked) == 1
    desk.cycle()
    assert [one.reason.near[0].free for one in desk.told.values()] == [1, 1, 1]


def test_a_pod_of_others_that_comes_is_told_too() -> None:
    """Where a pod of another scheduler takes the node that was free in `a`, all say so."""
    desk = full(*(small.gang(f"g{i}", 4) for i in range(2)))
    desk.ends("a0")
    desk.cycle()
    desk.cycle()
    other = RunningPod("kube", "other", "a0", small.WHOLE)
    desk.world = replace(desk.world, running=(*desk.world.running, other))
    assert desk.cycle() == ""
    desk.cycle()
    assert [one.reason.near[0].free for one in desk.told.values()] == [0, 0]


@pytest.mark.parametrize("seed", range(60))
def test_places_in_freed_leaves_are_none_exactly_where_there_are_none(seed: int) -> None:
    """Beside all places of the fabric that have room: 0 in the same cases, and never too few."""
    dice = Random(seed)  # noqa: S311 - an instance, not a secret
    fabric = small.fabric([[dice.randint(1, 4) for _ in range(3)] for _ in range(2)])
    policy = dice.choice(list(TopologyPolicy))
    sizes = [dice.randint(1, 4) for _ in range(dice.randint(1, 2))]
    gang = replace(small.gang("g", *sizes, gpus=dice.choice((2, 4, 8))), policy=policy)
    nodes = dice.sample(sorted(fabric.nodes), dice.randint(1, len(fabric.nodes)))
    taken = tuple(RunningPod("ml", f"on-{node}", node, small.WHOLE) for node in nodes)
    world = replace(small.snapshot(fabric, gang), running=taken)
    groups = gang_groups_for(world, NO_EXTENSIONS)
    group = groups.of(gang)
    state = CycleState(world, groups.fabric)
    if group.loose:
        sums = [
            [sum(room[leaf] for leaf in fabric_leaves) for room in state.room(group.kind).by_leaf]
            for spine, fabric_leaves in enumerate(groups.fabric.spine_leaves)
            if spine in group.candidates.loose_spines
        ]
        loose = sum(
            min(room // size for room, size in zip(one, group.kind.sizes, strict=True))
            for one in sums
        )
    else:
        loose = 0
    assert {name: world.free_on(name) for name in fabric.nodes} == world.free
    places = state.open_places(group.kind, group.candidates)
    everywhere = range(len(fabric.leaves))
    found = FreedLeaves(world, everywhere).most(gang)
    assert found is not None
    assert bool(found) == bool(places or loose)
    assert found >= max((fit for _, fit in places), default=0)


def test_the_others_are_looked_at_where_who_is_to_be_asked_goes() -> None:
    """A batch of one: of two that are to be asked for two nodes, the second goes before it is."""
    gangs = (replace(small.gang(f"g{i}", 1), created=float(i)) for i in range(4))
    desk = full(*gangs, batch={"size": 1})
    desk.ends("b0", "b1")
    assert desk.cycle() == "g0"
    desk.goes("g1")
    assert desk.cycle() == "g2"


def test_a_quota_is_there_again_where_what_was_planned_never_ran() -> None:
    """Two gangs under a quota for one: the first is bound, and has ended by the next cycle."""
    gangs = (replace(small.gang(f"g{i}", 1), created=float(i)) for i in range(2))
    world = small.snapshot(small.fabric([[4, 4]]), *gangs, namespaces={"ml": {"gpuQuota": 8}})
    desk = Desk(world)
    assert desk.cycle() == "g0"
    assert desk.told["g1"].reason.kind is ReasonKind.QUOTA_EXCEEDED
    desk.ends(*world.fabric.nodes)
    assert desk.cycle() == "g1"


def test_who_is_behind_stays_so_where_others_change_what_it_prefers() -> None:
    """What was planned does not start, and goes: the next one is asked, read anew meanwhile."""
    desk = full(*(replace(small.gang(f"g{i}", 1), created=float(i)) for i in range(3)))
    desk.ends("b3")
    assert desk.cycle(takes=False) == "g0"
    desk.goes("g0")
    desk.world = desk.world.with_gangs(tuple(map(replace, desk.world.gangs)))
    assert desk.cycle() == "g1"


def test_who_may_use_other_nodes_by_now_is_asked() -> None:
    """A pod of others kept it from leaf `b`, where a node is free, and has gone."""
    gang = small.gang("g", 1)
    (role,) = gang.roles
    a0 = Requirement(NODE_NAME_FIELD, Operator.IN, ("a0",), is_field=True)
    apart = NodeConstraint(affinity=((a0,),))
    kept = replace(gang, roles=(replace(role, constraint=apart),))
    desk = full(kept)
    desk.ends("b0")
    assert desk.cycle() == ""
    desk.world = desk.world.with_gangs((gang,))
    assert desk.cycle() == "g"
