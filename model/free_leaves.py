"""Whole free leaves, and how many pairs and quads of adjacent ones they make."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.model.fabric import AdjacencyKind, Fabric
from fourleaf.model.relocation import FreeLeaves
from fourleaf.model.snapshot import Snapshot


def free_room(snapshot: Snapshot) -> FreeLeaves:
    """Count leaves whose nodes are all schedulable and hold no GPU in use.

    Leaves without GPUs do not count. Pairs and quads are disjoint windows of 2 and 4 adjacent
    free leaves of one spine, as many as there can be; with explicit edges, as many as are
    found by taking them in fabric order.
    """
    fabric = snapshot.fabric
    used = {node for node, held in snapshot.used.items() if held.gpus > 0}
    free = [
        all(node.schedulable and node.name not in used for node in leaf.nodes)
        and any(node.allocatable.gpus for node in leaf.nodes)
        for leaf in fabric.leaves
    ]
    return FreeLeaves(sum(free), _windows(fabric, free, 2), _windows(fabric, free, 4))


def _windows(fabric: Fabric, free: Sequence[bool], length: int) -> int:
    if fabric.adjacency is AdjacencyKind.EXPLICIT:
        return _paths(fabric, free, length)
    total = 0
    for leaves in fabric.spines.values():
        row = [free[leaf] for leaf in leaves]
        if fabric.adjacency is AdjacencyKind.ALIGNED:
            starts = range(0, len(row) - length + 1, length)
            total += sum(all(row[start : start + length]) for start in starts)
        elif fabric.adjacency is AdjacencyKind.RING and False in row:
            first = row.index(False)
            total += _in_runs([*row[first:], *row[:first]], length)
        else:
            total += _in_runs(row, length)
    return total


def _in_runs(row: Sequence[bool], length: int) -> int:
    total = run = 0
    for free in row:
        run = run + 1 if free else 0
        total += run > 0 and run % length == 0
    return total


def _paths(fabric: Fabric, free: Sequence[bool], length: int) -> int:
    index = fabric.leaf_index
    near: dict[int, set[int]] = {}
    for a, b in fabric.edges:
        one, other = index[a], index[b]
        if fabric.leaves[one].spine == fabric.leaves[other].spine:
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
    left = {leaf for leaf, ok in enumerate(free) if ok}

    def extend(path: tuple[int, ...]) -> tuple[int, ...] | None:
        if len(path) == length:
            return path
        for leaf in sorted(near.get(path[-1], set()) & left - set(path)):
            found = extend((*path, leaf))
            if found:
                return found
        return None

    total = 0
    for leaf in range(len(free)):
        path = extend((leaf,)) if leaf in left else None
        if path:
            left -= set(path)
            total += 1
    return total
