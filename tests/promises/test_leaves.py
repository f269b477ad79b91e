"""Leaves as the older scheduler has them: so many nodes, so many leaves; the preferred ones."""

from dataclasses import replace

import pytest

from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.batch.solve import solve
from tests.small import config, fabric, gang, snapshot

FABRIC = fabric([[4] * 8, [4] * 8])


@pytest.mark.parametrize(("nodes", "leaves"), [(2, 1), (4, 1), (8, 2), (16, 4)])
def test_so_many_nodes_take_so_many_leaves(nodes: int, leaves: int) -> None:
    """On an empty fabric: leaves of one spine, next to each other, complete from four nodes on."""
    (placed,) = solve(snapshot(FABRIC, gang("job", nodes))).placements
    used = sorted({node[0] for _, node in placed.pods})
    assert len({node for _, node in placed.pods}) == nodes
    assert len(used) == leaves
    assert [ord(one) - ord(used[0]) for one in used] == list(range(leaves))
    assert len({one <= "h" for one in used}) == 1


def test_the_preferred_leaf_wins_where_a_law_lets_it() -> None:
    """Over a leaf of which one GPU is left, and over room that is kept for whole leaves.

    The one exception is what the config says: at 0, the fuller leaf is worth more, as ever.
    """
    one = gang("job", 1, gpus=1, preferred_domain="c")
    held = [RunningPod("ml", f"p{i}", f"i{i}", Resources(gpus=8 - (i == 3))) for i in range(4)]
    world = snapshot(FABRIC, one, running=held, fragmentation={"weight": "0.1"})
    assert _leaf(world) == "c"
    assert _leaf(replace(world, config=config(penalties={"domain": 0}))) == "i"


def _leaf(world: Snapshot) -> str:
    (placed,) = solve(world).placements
    ((_, node),) = placed.pods
    return node[0]


@pytest.mark.parametrize(("gpus", "busy"), [(8, 8), (1, 4)])
def test_the_largest_weight_sends_pods_where_the_least_is_left(gpus: int, busy: int) -> None:
    """By `resourceAvailability` alone, a whole node and a part of one go to the leaf in use.

    They state neither CPU nor memory: without GPUs all free nodes would be worth the same.
    """
    held = [RunningPod("ml", "p", "b0", Resources(gpus=busy))]
    world = snapshot(
        fabric([[2, 2]]),
        gang("job", 1, gpus=gpus),
        running=held,
        scoringWeights={"resourceAvailability": 1},
        fragmentation={"weight": 0},
    )
    assert _leaf(world) == "b"
