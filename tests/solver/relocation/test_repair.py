"""Repairs worked out by hand: where lost members go, and who moves for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Role
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import repair_breaches
from fourleaf.solver.relocation import repair as module
from fourleaf.solver.relocation.repair import repair
from tests.small import WHOLE, fabric, gang, node, snapshot
from tests.solver.explain.asking import of_nodes
from tests.standing import outage, stood

EIGHT = ("a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3")
"""A gang of eight over the first two leaves of four nodes."""


def repaired(snapshot: Snapshot) -> RepairPlan:
    """The proven, legal repair of a snapshot."""
    plan = repair(snapshot)
    assert plan is not None
    assert plan.proven
    assert [str(breach) for breach in repair_breaches(snapshot, plan)] == []
    return plan


def moves(plan: RepairPlan) -> dict[str, tuple[str, str]]:
    """Pod -> (leaf it left, leaf it goes to)."""
    return {move.pod: (move.source[0], move.target[0]) for move in plan.moves}


def homes(plan: RepairPlan) -> dict[str, str]:
    """Lost member -> the leaf where it is placed."""
    return {pod: node[0] for placement in plan.placements for pod, node in placement.pods}


def test_room_in_the_leaf() -> None:
    """A spare node of its own leaf takes the lost member, and nobody moves."""
    where = fabric([[5, 5]])
    nodes = ("a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2")
    plan = repaired(outage(where, stood("g", nodes), dead=["a0"]))
    assert homes(plan) == {"g-0-0": "b"}
    assert plan.moves == ()


def test_room_next_door() -> None:
    """Leaf a holds three now, so a full pair of leaves is b and c: three move, four stay."""
    plan = repaired(outage(fabric([[4, 4, 4]]), stood("g", EIGHT), dead=["a0"]))
    assert homes(plan) == {"g-0-0": "c"}
    assert moves(plan) == {f"g-0-{i}": ("a", "c") for i in (1, 2, 3)}
    assert plan.cost == 3


def test_room_elsewhere() -> None:
    """Its spine holds seven, another spine is free: all seven survivors move there."""
    snapshot = outage(fabric([[4, 4], [4, 4]]), stood("g", EIGHT), dead=["a0"])
    plan = repaired(snapshot)
    assert set(homes(plan).values()) <= {"c", "d"}
    assert len(plan.moves) == 7
    assert {target for _, target in moves(plan).values()} == {"c", "d"}


def test_room_nowhere() -> None:
    """Seven nodes are left for eight: the gang is lost, stays as it is, and nobody moves."""
    plan = repaired(outage(fabric([[4, 4]]), stood("g", EIGHT), dead=["a0"]))
    assert [entry.gang.name for entry in plan.lost] == ["g"]
    assert plan.placements == plan.moves == ()


@pytest.mark.parametrize(
    ("policy", "moved", "lost", "waits", "restarts"),
    [
        (RepairPolicy.PATCH, 0, 1, 0, 0),
        (RepairPolicy.SHIFT, 3, 0, 0, 0),
        (RepairPolicy.MOVE, 3, 0, 0, 0),
        (RepairPolicy.WAIT, 0, 0, 1, 0),
        (RepairPolicy.RESTART, 0, 0, 0, 1),
    ],
)
def test_policies(policy: RepairPolicy, moved: int, lost: int, waits: int, restarts: int) -> None:
    """With room next door only policies that let survivors move keep the gang alive."""
    gang = stood("g", EIGHT, policy=policy)
    plan = repaired(outage(fabric([[4, 4, 4]]), gang, dead=["a0"]))
    assert (len(plan.moves), len(plan.lost)) == (moved, lost)
    assert (len(plan.waits), len(plan.restarts)) == (waits, restarts)


def test_shift_keeps_within_its_spine() -> None:
    """Room in another spine is no help to a gang that may only shift."""
    gang = stood("g", EIGHT, policy=RepairPolicy.SHIFT)
    plan = repaired(outage(fabric([[4, 4], [4, 4]]), gang, dead=["a0"]))
    assert [entry.gang.name for entry in plan.lost] == ["g"]


@pytest.mark.parametrize("movable", [True, False])
def test_another_gang_makes_room(movable: bool) -> None:
    """A pair needs the only leaf of two left; the single there moves out, if it may."""
    where = fabric([[2, 2, 1]])
    single = stood("m", ["a0"], movable=movable, move_cost=3)
    plan = repaired(outage(where, stood("g", ["b0", "b1"]), single, dead=["b0"]))
    if movable:
        assert moves(plan) == {"m-0-0": ("a", "c"), "g-0-1": ("b", "a")} or moves(plan) == {
            "m-0-0": ("a", "b"),
            "g-0-1": ("b", "a"),
        }
        assert plan.cost == 4
    else:
        assert [entry.gang.name for entry in plan.lost] == ["g"]
        assert plan.moves == ()


def test_cheaper_gang_moves() -> None:
    """Two singles stand in the way, one in each leaf of two; the one that costs less moves."""
    where = fabric([[2, 2, 2, 1]])
    dear = stood("dear", ["a0"], movable=True, move_cost=5)
    cheap = stood("cheap", ["b0"], movable=True, move_cost=2)
    snapshot = outage(where, stood("g", ["c0", "c1"]), dear, cheap, dead=["c0"])
    plan = repaired(snapshot)
    assert {move.pod for move in plan.moves} == {"cheap-0-0", "g-0-1"}
    assert plan.cost == 3


def test_higher_priority_lives() -> None:
    """Two pairs lost a node and one leaf is free: the higher priority gets it, though smaller."""
    low = stood("low", ["a0", "a1"], priority=1)
    high = stood("high", ["b0", "b1"], gpus=4, priority=9, one_per_node=True)
    plan = repaired(outage(fabric([[2, 2, 2]]), low, high, dead=["a0", "b0"]))
    assert [placement.gang.name for placement in plan.placements] == ["high"]
    assert [entry.gang.name for entry in plan.lost] == ["low"]


def test_pods_of_shared_nodes_are_packed_together() -> None:
    """Halves on two nodes: a gang that needs a whole node moves one half onto the other."""
    where = fabric([[2], [1]])
    halves = [stood(f"h{i}", [f"a{i}"], gpus=4, movable=True) for i in range(2)]
    plan = repaired(outage(where, *halves, stood("g", ["b0"]), dead=["b0"]))
    assert len(plan.moves) == 1
    assert homes(plan) == {"g-0-0": "a"}


def test_part_of_a_gang_moves() -> None:
    """Of four halves on two nodes only the two on one node move, where a leaf is shared."""
    where = fabric([[3], [1]])
    gang = stood("q", ["a0", "a0", "a1", "a2"], gpus=4, movable=True)
    plan = repaired(outage(where, gang, stood("g", ["b0"]), dead=["b0"]))
    assert len(plan.moves) == 1
    assert homes(plan) == {"g-0-0": "a"}


def test_overcommitted_node_keeps_its_pods() -> None:
    """Two whole-node pods stand on one node: both may stay, and nobody new joins them."""
    where = fabric([[2], [1]])
    crowd = [stood(f"c{i}", ["a0"], movable=True, move_cost=9) for i in range(2)]
    plan = repaired(outage(where, *crowd, stood("g", ["b0"]), dead=["b0"]))
    assert plan.moves == ()
    assert [pod for placement in plan.placements for pod in placement.pods] == [("g-0-0", "a1")]


def test_unmovable_gangs_stay() -> None:
    """Nothing moves where nobody may, however little it would cost."""
    where = fabric([[4, 4, 4]])
    fixed = [stood(f"f{i}", [f"c{i}"]) for i in range(2)]
    plan = repaired(outage(where, stood("g", EIGHT), *fixed, dead=["a0"]))
    assert plan.moves == ()
    assert [entry.gang.name for entry in plan.lost] == ["g"]


def test_several_nodes_at_once() -> None:
    """A whole leaf dies: its half of the gang is lost and placed next door; the rest stays."""
    dead = ["a0", "a1", "a2", "a3"]
    plan = repaired(outage(fabric([[4, 4, 4]]), stood("g", EIGHT), dead=dead))
    assert set(homes(plan).values()) == {"c"}
    assert plan.moves == ()


def test_all_members_lost() -> None:
    """A gang that lost everybody starts over wherever it fits, whatever its policy."""
    for policy in (RepairPolicy.PATCH, RepairPolicy.SHIFT, RepairPolicy.MOVE):
        gang = stood("g", ["a0", "a1"], policy=policy)
        plan = repaired(outage(fabric([[2], [2]]), gang, dead=["a0", "a1"]))
        assert set(homes(plan).values()) == {"b"}


def test_cordoned_survivors_may_stay() -> None:
    """A member on a cordoned node stays there while its lost fellow is placed beside it."""
    where = fabric([[4]])
    leaf = where.leaves[0]
    nodes = tuple(replace(n, cordoned=n.name == "a0") for n in leaf.nodes)
    where = Fabric((replace(leaf, nodes=nodes),))
    gang = stood("g", ["a0", "a1"])
    plan = repaired(outage(where, gang, dead=["a1"]))
    assert plan.moves == ()
    assert set(homes(plan)) == {"g-0-1"}


def test_what_is_found_without_movable_gangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time is too short for all to take part, hit gangs live on by themselves.

    The single in the only leaf of two left is not asked to move, so one of the two pairs is
    lost, and nothing of that is said to be proven.
    """
    real, calls = module.reach, []

    def first_fails(*arguments: object) -> object:
        calls.append(arguments)
        return None if len(calls) == 1 else real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "reach", first_fails)
    where = fabric([[2, 2, 2, 2]])
    pairs = [stood("g", ["a0", "a1"]), stood("h", ["b0", "b1"])]
    single = stood("m", ["c0"], movable=True)
    snapshot = outage(where, *pairs, single, dead=["a0", "b0"])
    plan = repair(snapshot)
    assert plan is not None
    assert repair_breaches(snapshot, plan) == ()
    assert len(plan.placements) == len(plan.lost) == 1
    assert all(move.pod[0] in "gh" for move in plan.moves)
    assert not plan.proven
    assert [(stage.objective, stage.bound) for stage in plan.stages[:2]] == [(16, 32), (1, 0)]


def test_who_lives_finds_room_where_a_node_of_the_leaf_is_half_free() -> None:
    """Leaders of 8 leave leaf b for d0 and d2, and the worker of 4 that was lost goes to d1.

    Half of d1 is taken: of what is free there no leader has any.
    """
    leaders = Role((), WHOLE, bound=(("l-0", "b0"), ("l-1", "b1")))
    worker = Role(("w-0",), Resources(gpus=4))
    one = gang("g", roles=(leaders, worker))
    running = (
        *(RunningPod("ml", pod, host, WHOLE, one.key, ours=True) for pod, host in leaders.bound),
        RunningPod("other", "x", "d1", Resources(gpus=4), None),
    )
    where = of_nodes(*(node(name, name[0]) for name in ("b0", "b1", "d0", "d1", "d2")))
    given = replace(
        snapshot(where, running=running),
        standing=(StandingGang(one, policy=RepairPolicy.MOVE),),
    )
    plan = repaired(given)
    assert plan.lost == ()
    assert [(move.pod, move.target) for move in plan.moves] == [("l-0", "d0"), ("l-1", "d2")]
    assert [placed.pods for placed in plan.placements] == [(("w-0", "d1"),)]
