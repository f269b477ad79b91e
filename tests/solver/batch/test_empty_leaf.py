"""An idle leaf more: no plan gets worse where every gang keeps the places that it had.

Nor where its strategy allows fewer pods in each: an even share of more leaves is smaller.

The leaf rule counts in the fewest leaves in which a gang can stand (docs/model.md, section 4),
and docs/decisions/0022 says when a new leaf changes that number, and what to do then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.config.strategies import pods_allowed
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import AdjacencyKind, Fabric, Leaf
from fourleaf.model.job_mix import likely_gangs
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import who_values
from fourleaf.model.validator.facts import facts_of
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.explain.no_room_now import SLACK_NOW
from tests.instances import random_snapshot
from tests.oracle.leafrule import LeafRule, Wish, phantom_wish, wish_of
from tests.small import config, fabric, gang, snapshot

SEEDS = range(60)
NOTHING = Extensions()
OWN = "zz"


def with_fragmentation(world: Snapshot, weight: object) -> Snapshot:
    """The same with this weight for the room that likely gangs keep."""
    spec = world.config.spec
    kept = spec.fragmentation.model_copy(update={"weight": weight})
    spec = spec.model_copy(update={"fragmentation": kept})
    return replace(world, config=world.config.model_copy(update={"spec": spec}))


def wider(world: Snapshot, size: int, spine: str) -> Snapshot:
    """One leaf more at the end of `spine`: the first `size` nodes of the largest, and idle."""
    model = max(world.fabric.leaves, key=lambda leaf: len(leaf.nodes))
    nodes = tuple(
        replace(node, name=f"{OWN}{i}", leaf=OWN, spine=spine)
        for i, node in enumerate(model.nodes[:size])
    )
    leaves = (*world.fabric.leaves, Leaf(OWN, spine, nodes, model.uplink))
    return replace(world, fabric=Fabric(leaves, world.fabric.adjacency, world.fabric.edges))


def wishes(world: Snapshot) -> list[Wish]:
    """What the places of gangs and of phantoms depend on."""
    gangs = [wish_of(world, one) for one in world.gangs]
    return gangs + [phantom_wish(shape.nodes, shape.gpus) for shape in likely_gangs(world)]


def keeps_places(before: Snapshot, after: Snapshot) -> bool:
    """Whether every gang and phantom keeps its legal places and its fewest, by the oracle."""
    for one in wishes(before):
        places, fewest = LeafRule(before, one, NOTHING).unbounded()
        more, now = LeafRule(after, one, NOTHING).unbounded()
        if not places <= more or (places and fewest != now):
            return False
    return True


def shares(world: Snapshot) -> list[tuple[int, int]]:
    """How many pods of each gang its strategy allows on a node and in a leaf."""
    found = []
    for one in world.gangs:
        settings = world.config.spec.strategy(one.strategy)
        room = facts_of(world.fabric).of_gang(world.config.spec, one, NOTHING).room
        found.append(
            (
                pods_allowed(one.size, settings.most_per_node, room.open_nodes),
                pods_allowed(one.size, settings.most_per_leaf, room.open_leaves),
            )
        )
    return found


def worth(world: Snapshot) -> tuple[Plan, dict[int, int]]:
    """The plan, and the value placed in each tier."""
    plan = solve(world)
    assert plan is not None
    return plan, who_values(world, plan)


def cases(world: Snapshot) -> Iterator[tuple[Snapshot, bool]]:
    """The world with a leaf of 1 to the largest size, and whether it is in a spine of its own."""
    largest = max(len(leaf.nodes) for leaf in world.fabric.leaves)
    for size in range(1, largest + 1):
        for spine in (OWN, world.fabric.leaves[0].spine):
            yield wider(world, size, spine), spine == OWN


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_an_empty_leaf_never_hurts(seed: int) -> None:
    """Of any size and in any spine, where nobody loses a place: tier by tier, then the score."""
    default = SchedulerConfig().spec.fragmentation.weight
    given = with_fragmentation(random_snapshot(seed), default)
    # Phantoms have the size of the commonest node: where that changes, so does their worth.
    bare = with_fragmentation(given, 0)
    for after, _ in cases(given):
        same = likely_gangs(given) == likely_gangs(after)
        before, later = (given, after) if same else (bare, with_fragmentation(after, 0))
        if not keeps_places(before, later) or shares(before) != shares(later):
            continue
        plan, who = worth(before)
        other, whose = worth(later)
        tiers = sorted({*who, *whose}, reverse=True)
        assert [whose.get(t, 0) for t in tiers] >= [who.get(t, 0) for t in tiers]
        if {p.gang for p in other.placements} == {p.gang for p in plan.placements}:
            assert other.objective >= plan.objective


def test_who_keeps_all_places() -> None:
    """Where some window holds every gang, a leaf in a spine of its own takes no place from any.

    In a spine that is there, most cases are of this kind too, but not all.
    """
    own = shared = kept = 0
    for seed in SEEDS:
        world = with_fragmentation(random_snapshot(seed), 0)
        if any(_spans_spines(world, one) for one in wishes(world)) or _names_nodes(world):
            continue
        for after, alone in cases(world):
            keeps = keeps_places(world, after)
            assert keeps or not alone, seed
            own, shared, kept = own + alone, shared + (not alone), kept + (keeps and not alone)
    assert own > 100
    assert shared / 2 < kept < shared, (kept, shared)


def _spans_spines(world: Snapshot, wish: Wish) -> bool:
    """Whether whole spines and a rest are, or may come to be, what the gang is measured by."""
    places, _ = LeafRule(world, replace(wish, preferred=False), NOTHING).unbounded()
    if wish.preferred and not places:
        return True
    spine = [leaf.spine for leaf in world.fabric.leaves]
    return any(len({spine[leaf] for leaf, _ in place}) > 1 for place in places)


def _names_nodes(world: Snapshot) -> bool:
    """Whether a gang avoids nodes by name: their like under another name is open to it."""
    return any(role.constraint.affinity for one in world.gangs for role in one.roles)


@pytest.mark.parametrize("spines", [[[4, 4, 4, 4, 8]], [[4, 4, 4, 4], [8]]])
def test_a_larger_leaf_makes_the_fewest_fewer(spines: list[list[int]]) -> None:
    """Two gangs of 8 stand in pairs of leaves of 4; beside a leaf of 8 one waits, and is told.

    k(8) is 1 then for both. With the advised slack both start.
    """
    gangs = (gang("a", 8), gang("b", 8))
    even = snapshot(fabric([[4, 4, 4, 4]]), *gangs)
    assert len(worth(even)[0].placements) == 2
    uneven = snapshot(fabric(spines), *gangs)
    plan = explain(uneven, worth(uneven)[0])
    (waiting,) = plan.waiting
    assert waiting.reason.kind is ReasonKind.OUTRANKED
    assert SLACK_NOW in waiting.reason.unblock
    advised = replace(uneven, config=config(topology={"windowSlack": 1}))
    assert worth(advised)[0].waiting == ()


def test_slack_is_advised_only_where_it_helps() -> None:
    """Beside a leaf of 16, which is busy, four leaves of 4 hold a gang of 16; two are too few."""
    gangs = (gang("a", 16), gang("b", 16))
    world = snapshot(fabric([[4, 4, 4, 4, 16]]), *gangs)
    (waiting,) = explain(world, worth(world)[0]).waiting
    assert SLACK_NOW not in waiting.reason.unblock
    advised = replace(world, config=config(topology={"windowSlack": 1}))
    assert len(worth(advised)[0].waiting) == 1


def test_a_ring_is_cut_open_by_a_leaf_at_its_end() -> None:
    """Of the places of a ring, the one over its ends goes: the leaf comes between."""
    ring = snapshot(fabric([[2, 2, 2]], AdjacencyKind.RING), gang("a", 4))
    assert not keeps_places(ring, wider(ring, 2, "s0"))
    assert keeps_places(ring, wider(ring, 2, OWN))
