"""Buddy cells, after HiveD (Zhao et al., OSDI 2020, section 3.2).

Cells are leaves and aligned runs of 2, 4, 8, ... leaves of a spine. A gang takes a place that
crosses no boundary of a cell of its size, in the smallest free cell that holds one, so that
larger cells are split only where no smaller one is free. On leaves of unequal size an aligned
place may need more leaves than the leaf rule allows; that is this policy's breach, not hidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fourleaf.model.fabric import AdjacencyKind, Fabric
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.policies.one_by_one import OneByOne, arrival
from fourleaf.solver.batch.greedy import FreeBooks
from fourleaf.solver.instance.candidates import Candidate


def smallest_cell(books: FreeBooks, place: Candidate) -> tuple[int, int]:
    """(leaves of the largest free cell around the place, GPUs left behind in its leaves)."""
    leaves = [leaf for leaf, _ in place.takes]
    return _cell(books, leaves), sum(books.leaf_free[leaf] for leaf in leaves)


def _cell(books: FreeBooks, leaves: list[int]) -> int:
    """Leaves of the largest free cell that holds these; 0 where one of them is used."""
    fabric = books.state.fabric

    def is_free(row: Iterable[int]) -> bool:
        nodes = (i for leaf in row for i in fabric.in_leaf[leaf])
        return all(books.free[i].gpus == fabric.nodes[i].allocatable.gpus for i in nodes)

    if not is_free(leaves):
        return 0
    row = fabric.spine_leaves[fabric.spine_of[leaves[0]]]
    places = [fabric.place_in_spine[leaf] for leaf in leaves]
    size = 1 << (len(leaves) - 1).bit_length()
    while size < len(row):
        start = places[0] // (2 * size) * (2 * size)
        if not is_free(row[start : start + 2 * size]):
            break
        size *= 2
    return size


class Buddy(OneByOne):
    """First come, first served, on the same fabric with aligned adjacency."""

    def __init__(self) -> None:
        super().__init__(arrival, smallest_cell)
        self._aligned: list[tuple[Fabric, Fabric]] = []

    def decide(self, snapshot: Snapshot) -> Plan:
        """Place what finds an aligned place."""
        return super().decide(replace(snapshot, fabric=self._of(snapshot.fabric)))

    def _of(self, fabric: Fabric) -> Fabric:
        for known, aligned in self._aligned:
            if known is fabric:
                return aligned
        aligned = replace(fabric, adjacency=AdjacencyKind.ALIGNED, edges=frozenset())
        self._aligned = [*self._aligned[-7:], (fabric, aligned)]
        return aligned
