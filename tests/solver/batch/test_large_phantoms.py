"""Room for large gangs that may use any leaves of a spine: worth as much as any enumeration finds.

Here gangs of two nodes are large, so that all answers of a tiny fabric can be told: a gang's places
by what each leaf takes, and what is left of a spine by the best numbers of phantoms for it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.plan import PlanStatus
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import score, validate
from fourleaf.solver.batch import place_gangs
from fourleaf.solver.batch.solve import solve
from tests.small import fabric, gang, snapshot
from tests.solver.explain.asking import pod

SHAPES = ([[2, 2], [1, 3]], [[3, 2], [2, 2], [1, 1, 2]], [[1, 2, 1], [4]], [[3, 3], [3, 2]])
MIXES = ((2, 3), (2, 4), (3, 4), (2, 3, 4))
BLOCKS, CASES = 17, 24


def case(seed: int) -> Snapshot:
    """One to four gangs of one or two nodes on a fabric of which a quarter is in use."""
    dice = random.Random(seed)  # noqa: S311 - an instance, not a secret
    where = fabric(dice.choice(SHAPES))
    busy = [pod(f"busy-{name}", name) for name in where.nodes if dice.random() < 0.25]
    gangs = [
        gang(f"g{i}", dice.choice((1, 1, 2)), preferred_domain=dice.choice((None, "a", "s0", "s1")))
        for i in range(dice.randint(1, 4))
    ]
    mix = [{"nodes": n, "share": dice.choice(("0.1", "0.2"))} for n in dice.choice(MIXES)]
    return snapshot(
        where,
        *gangs,
        running=busy,
        fragmentation={"weight": dice.choice(("0.1", "1", "5")), "mix": mix},
        topologyConstraints={"windowNodes": 1},
        solver={"gap": 0},
    )


def free_in(world: Snapshot, leaf: int) -> list[str]:
    """The nodes of a leaf on which no pod runs."""
    busy = {one.node for one in world.running}
    return [node.name for node in world.fabric.leaves[leaf].nodes if node.name not in busy]


def places(world: Snapshot, one: Gang) -> Iterator[tuple[dict[int, int], int]]:
    """What a gang takes of which leaf, and what it is worth there."""
    where: Fabric = world.fabric
    for spine in where.spines:
        leaves = [i for i, leaf in enumerate(where.leaves) if leaf.spine == spine]
        free = {leaf: free_in(world, leaf) for leaf in leaves}
        for counts in product(*(range(len(free[leaf]) + 1) for leaf in leaves)):
            if sum(counts) == one.size:
                taken = {leaf: n for leaf, n in zip(leaves, counts, strict=True) if n}
                hosts = [node for leaf, n in taken.items() for node in free[leaf][:n]]
                pods = tuple(zip(one.roles[0].pods, hosts, strict=True))
                yield taken, sum(score(world, one, pods).values())


def worth_of_room(world: Snapshot, left: dict[int, int]) -> int:
    """The best phantoms for what is left of each leaf."""
    spec = world.config.spec.fragmentation
    values, share = {}, 0
    for entry in sorted(spec.mix or (), key=lambda entry: entry.nodes):
        share += round(entry.share * 1000)
        values[entry.nodes] = round(spec.weight * 1000) * entry.nodes * 8 * share // 1000
    total = 0
    for spine in world.fabric.spines:
        here = [i for i, leaf in enumerate(world.fabric.leaves) if leaf.spine == spine]
        empty = sum(len(world.fabric.leaves[i].nodes) for i in here)
        best = [0] * (sum(left[i] for i in here) + 1)
        for nodes in range(1, len(best)):
            options = [best[nodes - n] + v for n, v in values.items() if n <= min(nodes, empty)]
            best[nodes] = max([best[nodes - 1], *options])
        total += best[-1]
    return total


def best_of_all(world: Snapshot) -> int | None:
    """The greatest sum with all gangs placed; `None` where they have no room together."""
    free = {leaf: len(free_in(world, leaf)) for leaf in range(len(world.fabric.leaves))}
    best: int | None = None
    for chosen in product(*(list(places(world, one)) for one in world.gangs)):
        left = dict(free)
        for taken, _ in chosen:
            for leaf, n in taken.items():
                left[leaf] -= n
        if min(left.values()) >= 0:
            value = sum(points for _, points in chosen) + worth_of_room(world, left)
            best = value if best is None else max(best, value)
    return best


@pytest.mark.parametrize("block", range(BLOCKS))
def test_rooms_equal_an_enumeration(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the counts of phantoms searched first, the plan is worth what the best one is."""
    monkeypatch.setattr(place_gangs, "ROOM_SEARCH_VARIABLES", 0)
    compared = 0
    for seed in range(block * CASES, (block + 1) * CASES):
        world = case(seed)
        best = best_of_all(world)
        found = solve(world)
        assert found is not None
        assert found.status is PlanStatus.OPTIMAL
        assert [str(breach) for breach in validate(world, found)] == []
        if best is not None and len(found.placements) == len(world.gangs):
            assert (seed, found.objective, found.bound) == (seed, best, best)
            compared += bool(found.phantoms)
    assert compared > CASES // 3
