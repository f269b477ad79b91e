"""Gangs of more nodes than windows are for: any leaves of one spine, the fewer the better.

In most worlds here 17 nodes are free in spine `s1` alone: one in three of its leaves of two, the
others whole, so that no window of 16 nodes has room.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourleaf.model.extensions import NO_EXTENSIONS
from fourleaf.model.fabric import Fabric
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import sentence
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import repair_breaches, validate
from fourleaf.model.validator.breach import Law
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.cpsat.core_search import priced
from fourleaf.solver.cpsat.program import costs_of
from fourleaf.solver.cpsat.relaxation import relax
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.objective.scorer import Scorer
from fourleaf.solver.relocation.repair import repair
from tests.small import fabric, gang, plan, snapshot
from tests.solver.explain.asking import pod
from tests.standing import outage, stood

TWO_SPINES = fabric([[2] * 10, [2] * 10])
TAKEN = ("a0", "d0", "g0", "j0", "k0", "n0", "q0")
BUSY = tuple(pod(f"busy-{host}", host) for host in TAKEN)
"""Four nodes of `s0` are taken and three of `s1`: 16 and 17 are free."""


def solved(world: Snapshot) -> Plan:
    """The proven, legal plan of a snapshot; greedy's obeys the same laws."""
    found = solve(world)
    assert found is not None
    assert found.status is PlanStatus.OPTIMAL
    for one in (found, greedy_plan(world, NO_EXTENSIONS)):
        assert [str(breach) for breach in validate(world, one)] == []
        assert len(one.placements) == len(found.placements)
    return found


def leaves(where: Fabric, placement: Placement) -> set[str]:
    """The leaves that a placement stands on."""
    return {where.leaves[where.leaf_of[node]].name for _, node in placement.pods}


def test_the_seventeenth_node_frees_a_gang_from_windows() -> None:
    """With 17 nodes it takes all that is free in `s1`; with 16 it waits for eight whole leaves."""
    world = snapshot(TWO_SPINES, gang("g", 17), running=BUSY)
    (placed,) = solved(world).placements
    assert leaves(TWO_SPINES, placed) == set("klmnopqrst")
    assert solved(snapshot(TWO_SPINES, gang("g", 16), running=BUSY)).placements == ()


def test_pods_that_share_nodes_are_no_more_nodes() -> None:
    """Thirty-two pods of four GPUs are 16 nodes; the validator, too, wants them in a window."""
    halves = gang("g", 32, gpus=4)
    world = snapshot(TWO_SPINES, halves, running=BUSY)
    assert solved(world).placements == ()
    hosts = [f"{leaf}{i}" for leaf in "klmnopqrst" for i in (1, 0) if f"{leaf}{i}" not in TAKEN]
    apart = plan(world, {"g": [host for host in hosts[:16] for _ in range(2)]})
    assert [one.law for one in validate(world, apart)] == [Law.LOCATION]


@pytest.mark.parametrize(
    "constraints",
    [{"windowNodes": 17}, {"rules": [{"nodes": 17, "leaves": 9}]}],
    ids=["all in windows", "a rule for its size"],
)
def test_windows_stay_a_choice(constraints: dict[str, Any]) -> None:
    """Where the config wants a window of it, the same gang waits, and the reason says for what."""
    world = snapshot(TWO_SPINES, gang("g", 17), running=BUSY, topologyConstraints=constraints)
    found = solved(world)
    assert found.placements == ()
    (waiting,) = explain(world, found, NO_EXTENSIONS).waiting
    assert waiting.reason.kind is ReasonKind.NO_ADJACENT_LEAVES
    assert waiting.reason.unblock[-1] == "topology-policy Preferred would place it now"


def test_its_reason_counts_what_is_free_in_a_spine() -> None:
    """Of 18 nodes the fuller spine has 17 and the other 16: no leaf rule is in the way."""
    world = snapshot(TWO_SPINES, gang("g", 18), running=BUSY)
    (waiting,) = explain(world, solved(world), NO_EXTENSIONS).waiting
    assert waiting.reason.kind is ReasonKind.NO_FREE_CAPACITY
    counts = dict(waiting.reason.counts)
    assert (counts["needed"], counts["free"], counts["anywhere"]) == (18, 17, 33)
    assert "Preferred" not in sentence(waiting.reason)
    assert not any("Preferred" in step for step in waiting.reason.unblock)


def test_few_leaves_are_better() -> None:
    """Seventeen nodes on leaves of 1 and 4 nodes: four whole ones apart, and one of the small."""
    where = fabric([[4, 1, 4, 1, 1, 4, 1, 4, 1, 1]])
    (placed,) = solved(snapshot(where, gang("g", 17))).placements
    assert len(leaves(where, placed)) == 5
    assert {"a", "c", "f", "h"} < leaves(where, placed)


def test_each_leaf_more_costs_the_same() -> None:
    """F is 6 on leaves of four: on 5, 6, 9 and 12 leaves half of the term is 500, 416, 166, -84.

    With 17 pods of 8 GPUs at a weight of 1, and 500 more for no domain that is missed.
    """
    where = fabric([[4] * 13])
    world = snapshot(where, gang("g", 17), scoringWeights={"topologyAlignment": 1})
    whole = [f"{leaf}{i}" for leaf in "abcd" for i in range(4)]
    spread = [f"{leaf}{i}" for leaf in "abcde" for i in range(3)]
    thin = [f"{leaf}{i}" for leaf in "abcdefghi" for i in range(2)][:17]
    thinner = [*thin[:10], "f0", "g0", "h0", "i0", "j0", "k0", "l0"]
    worth = {5: 500, 6: 416, 9: 166, 12: -84}
    for hosts in ([*whole, "e0"], [*spread, "f0", "f1"], thin, thinner):
        ours = plan(world, {"g": hosts})
        assert [str(one) for one in validate(world, ours)] == []
        (placed,) = ours.placements
        used = len(leaves(where, placed))
        assert dict(placed.terms)["topologyAlignment"] == 17 * 8 * (worth[used] + 500)


def test_one_larger_than_a_spine_takes_the_fewest() -> None:
    """Twenty-four nodes take one spine of twenty and a window of two leaves in the other."""
    (placed,) = solved(snapshot(TWO_SPINES, gang("g", 24))).placements
    assert len(leaves(TWO_SPINES, placed)) == 12


def test_room_is_kept_for_large_gangs_in_any_leaves() -> None:
    """Seventeen nodes that are free in no window are room for a gang of 17 nodes."""
    mix = {"weight": "0.1", "mix": [{"nodes": 17, "share": "0.5"}]}
    found = solved(snapshot(TWO_SPINES, running=BUSY, fragmentation=mix))
    assert [one.nodes for one in found.phantoms] == [17]


def test_a_lost_member_of_a_large_gang_goes_anywhere_in_the_spine() -> None:
    """The only spare node is two leaves from the others, and no other pod moves."""
    hosts = [f"{leaf}{i}" for leaf in "abcdefghi" for i in range(2)][:17]
    spare = [pod("busy", "i1")]
    world = outage(
        fabric([[2] * 11]), stood("g", hosts), dead=["a0"], running=[*spare, pod("more", "j0"),
        pod("last", "j1")],
    )  # fmt: skip
    found = repair(world)
    assert found is not None
    assert [str(breach) for breach in repair_breaches(world, found)] == []
    assert [node[0] for one in found.placements for _, node in one.pods] == ["k"]
    assert found.moves == ()


def test_gangs_of_a_spine_are_counted_as_whole_ones() -> None:
    """Two gangs of 20 share each spine of 50 free nodes; a fifth is proven to have to wait."""
    where = fabric([[5] * 10, [5] * 10])
    gangs = [replace(gang(f"g{i}", 20), created=float(i)) for i in range(5)]
    found = solved(snapshot(where, *gangs, fragmentation={"weight": "0.1"}))
    assert len(found.placements) == 4
    assert {len(leaves(where, one)) for one in found.placements} == {4}


def test_a_relaxation_counts_whole_gangs_of_a_spine() -> None:
    """Two gangs of 20 nodes fit into 50, and its bound says so: not two and a half."""
    gangs = [gang(f"g{i}", 20) for i in range(5)]
    world = snapshot(fabric([[5] * 10]), *gangs)
    groups = gang_groups_for(world, NO_EXTENSIONS)
    state = CycleState(world, groups.fabric)
    model = build(state, groups.for_where(gangs), frozenset(), Scorer(state), scored=True)
    costs = costs_of(model.program, [(10, v) for one in model.groups for _, v in one.spines])
    relaxed = relax(model.program, costs, 10.0)
    assert relaxed is not None
    assert priced(model.program, costs, relaxed.prices).bound == 20
    assert model.large, "its search begins with the relaxation"
