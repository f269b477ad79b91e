"""Which leaves are adjacent: next to each other in a spine, in a ring, or as edges say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fourleaf.model.fabric import AdjacencyKind, Fabric


def adjacent_leaves(
    fabric: Fabric, spine_leaves: Sequence[tuple[int, ...]], spine_of: Sequence[int]
) -> list[tuple[int, ...]]:
    """Leaf -> adjacent leaves of the same spine."""
    near: list[set[int]] = [set() for _ in fabric.leaves]
    pairs: list[tuple[int, int]] = []
    if fabric.adjacency is AdjacencyKind.EXPLICIT:
        position = fabric.leaf_index
        pairs = [(position[a], position[b]) for a, b in fabric.edges]
    else:
        for leaves in spine_leaves:
            pairs += pairwise(leaves)
            if fabric.adjacency is AdjacencyKind.RING and len(leaves) > 2:
                pairs.append((leaves[-1], leaves[0]))
    for i, j in pairs:
        if i != j and spine_of[i] == spine_of[j]:
            near[i].add(j)
            near[j].add(i)
    return [tuple(sorted(leaves)) for leaves in near]
