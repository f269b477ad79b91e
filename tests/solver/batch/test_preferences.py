"""Nodes that pods prefer: taken where that costs nothing that weighs more, for themselves alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

from fourleaf.model.extensions import NO_EXTENSIONS
from fourleaf.model.gang import Gang
from fourleaf.model.node import Taint
from fourleaf.model.node_constraint import HOSTNAME, Operator, Preference, Requirement
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import validate
from fourleaf.solver.batch import place_gangs
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.objective.scorer import Scorer
from tests.small import fabric, gang, snapshot

EVEN = {"historicalPerformance": 1}
"""Every node is worth the same."""


def preferring(one: Gang, *nodes: str, weight: int = 100) -> Gang:
    """A gang whose pods would rather be on these nodes."""
    there = (Preference(weight, (Requirement("metadata.name", Operator.IN, nodes, True),)),)
    return replace(one, roles=tuple(replace(role, preferences=there) for role in one.roles))


def hosts(world: Snapshot) -> tuple[Plan, dict[str, list[str]]]:
    """The proven plan that breaks no law, and gang -> its nodes in order.

    Of one program: what is counted on classes of nodes can be put on the nodes.
    """
    with patch.object(place_gangs, "build", wraps=build) as built:
        plan = solve(world)
    assert built.call_count == 1
    assert plan is not None
    assert not validate(world, plan)
    assert plan.bound == plan.objective
    found = {one.gang.name: sorted(node for _, node in one.pods) for one in plan.placements}
    return plan, found


def test_a_pod_goes_to_the_node_that_it_prefers() -> None:
    """Of three leaves, that of node c0; without it the first leaf would do as well."""
    world = snapshot(fabric([[1, 1, 1]]), preferring(gang("g", 1), "c0"), scoringWeights=EVEN)
    assert hosts(world)[1] == {"g": ["c0"]}


def test_preferences_of_one_leave_the_others_as_they_are() -> None:
    """In a leaf of four nodes, one gang of two prefers the nodes a1 and a3, another none.

    The eight GPUs of a pod that stands elsewhere would lose 500 points each.
    """
    world = snapshot(
        fabric([[4]]),
        gang("any", 2),
        preferring(gang("g", 2), "a1", "a3"),
        scoringWeights=EVEN,
    )
    plan, found = hosts(world)
    assert found == {"g": ["a1", "a3"], "any": ["a0", "a2"]}
    assert plan.objective == 4 * 8 * 1000


def test_two_that_prefer_the_same_share_it_out_by_weight() -> None:
    """One node for two pods: the one that prefers it more takes it, the other loses 20 in 100."""
    world = snapshot(
        fabric([[2]]),
        preferring(gang("less", 1), "a1", weight=20),
        preferring(gang("more", 1), "a1", weight=80),
        scoringWeights=EVEN,
    )
    plan, found = hosts(world)
    assert found == {"less": ["a0"], "more": ["a1"]}
    assert plan.objective == 8 * (1000 + 1000 - 100)


def test_parts_of_nodes_are_preferred_beside_others() -> None:
    """Two pods of four GPUs prefer a1, on which both fit; three of others take what is left."""
    parts = [gang(f"any-{i}", 1, gpus=4) for i in range(2)]
    wish = [preferring(gang(f"g-{i}", 1, gpus=4), "a1") for i in range(2)]
    world = snapshot(fabric([[2]]), *parts, *wish, scoringWeights=EVEN)
    _, found = hosts(world)
    assert found["g-0"] == found["g-1"] == ["a1"]
    assert Counter(node for nodes in found.values() for node in nodes) == {"a0": 2, "a1": 2}


def test_room_is_shared_with_those_who_prefer_nothing() -> None:
    """Two leaves of two nodes, the second of which fails three times in ten.

    In the first, there is room for a pair or for a pod that prefers one of its nodes: the pair
    loses 16 times 300 elsewhere, the pod 8 times 300 and 8 times 500 more.
    """
    world = snapshot(
        fabric([[2, 2]]), gang("pair", 2), preferring(gang("g", 1), "a1"), scoringWeights=EVEN
    )
    first, second = world.fabric.leaves
    failing = tuple(replace(node, failure_permille=300) for node in second.nodes)
    leaves = (first, replace(second, nodes=failing))
    plan, found = hosts(replace(world, fabric=replace(world.fabric, leaves=leaves)))
    assert found == {"g": ["a1"], "pair": ["b0", "b1"]}
    assert plan.objective == 8 * 1000 + 16 * 700


def test_a_preference_holds_nobody_back() -> None:
    """Its node is taken by a gang of two that fills the leaf: it stands elsewhere."""
    world = snapshot(
        fabric([[2, 1]]),
        gang("pair", 2, priority=1),
        preferring(gang("g", 1), "a0"),
        scoringWeights=EVEN,
    )
    assert hosts(world)[1] == {"pair": ["a0", "a1"], "g": ["b0"]}


def test_a_node_with_a_taint_to_be_avoided_is_used_last() -> None:
    """Of two nodes the other one is taken, and with two pods both are."""
    world = snapshot(fabric([[2]]), gang("g", 1, gpus=8), scoringWeights=EVEN)
    leaf = world.fabric.leaves[0]
    flaky = replace(leaf.nodes[0], taints=(Taint("flaky", "", "PreferNoSchedule"),))
    leaf = replace(leaf, nodes=(flaky, *leaf.nodes[1:]))
    world = replace(world, fabric=replace(world.fabric, leaves=(leaf,)))
    assert hosts(world)[1] == {"g": ["a1"]}
    both = replace(world, gangs=(gang("g", 2),))
    assert hosts(both)[1] == {"g": ["a0", "a1"]}


def test_labels_are_compared_as_the_api_has_it() -> None:
    """A preference by hostname, which is a label, is met on the node that carries it."""
    world = snapshot(fabric([[2]]), gang("g", 1), scoringWeights=EVEN)
    leaf = world.fabric.leaves[0]
    nodes = tuple(replace(node, labels={HOSTNAME: node.name}) for node in leaf.nodes)
    world = replace(world, fabric=replace(world.fabric, leaves=(replace(leaf, nodes=nodes),)))
    wish = (Preference(1, (Requirement(HOSTNAME, Operator.NOT_IN, ("a0",)),)),)
    (one,) = world.gangs
    one = replace(one, roles=(replace(one.roles[0], preferences=wish),))
    plan, found = hosts(replace(world, gangs=(one,)))
    assert found == {"g": ["a1"]}
    assert plan.objective == 8 * 1000


def test_what_others_take_is_what_those_who_prefer_leave() -> None:
    """The first node of a leaf is preferred by one of two pods: the other one gets the second."""
    world = snapshot(
        fabric([[2]]), gang("any", 1), preferring(gang("g", 1), "a0"), scoringWeights=EVEN
    )
    assert hosts(world)[1] == {"g": ["a0"], "any": ["a1"]}


def test_most_pods_are_counted_as_if_nobody_preferred_anything() -> None:
    """Eight gangs in leaves of four: one that prefers three nodes adds few variables."""

    def size(*gangs: Gang) -> int:
        world = snapshot(fabric([[4] * 8]), *gangs)
        factory = gang_groups_for(world, NO_EXTENSIONS)
        state = CycleState(world, factory.fabric)
        groups = factory.for_where(world.gangs)
        return build(state, groups, frozenset(), Scorer(state), scored=True).program.size

    plain = [gang(f"g-{i}", 1 + i % 3, gpus=4) for i in range(8)]
    added = size(preferring(plain[0], "a0", "c2", "d1"), *plain[1:]) - size(*plain)
    assert 0 < added <= 12
