"""The leaf rule in pods against the same rule in nodes, where the latter is defined."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.extensions import Extensions
from tests.cli.made import fabric
from tests.oracle.leafrule import LeafRule, phantom_wish
from tests.small import config

SPINES, LEAVES = 2, 8


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
def test_filling_equals_counting_on_uniform_leaves(size: int) -> None:
    """Whole-node gangs on uniform leaves may stand where counting nodes allows, nowhere else."""
    windows = config(topologyConstraints={"windowNodes": LEAVES * size})
    snapshot = replace(fabric(SPINES, LEAVES, size), config=windows)
    for nodes in range(1, LEAVES * size + 1):
        filled = LeafRule(snapshot, phantom_wish(nodes, 8), Extensions()).unbounded()[0]
        assert {
            frozenset((leaf, sum(part)) for leaf, part in location) for location in filled
        } == counted(nodes, size)


def counted(nodes: int, size: int) -> set[frozenset[tuple[int, int]]]:
    """Fewest adjacent leaves of one spine, complete but for one at an end."""
    fewest = -(-nodes // size)
    rest = nodes - (fewest - 1) * size
    found = set()
    for start in range(SPINES * LEAVES - fewest + 1):
        run = [*range(start, start + fewest)]
        if run[0] // LEAVES == run[-1] // LEAVES:
            for *complete, last in (run, run[::-1]):
                found.add(frozenset([*((leaf, size) for leaf in complete), (last, rest)]))
    return found
