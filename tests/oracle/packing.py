"""The best packing of phantoms into the free nodes of a tiny instance."""

from __future__ import annotations

from itertools import combinations, product

from fourleaf.model.extensions import Extensions
from fourleaf.model.job_mix import likely_gangs
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import Snapshot
from tests.oracle.leafrule import LeafRule, phantom_wish


class Packing:
    """Phantoms on the nodes of `snapshot`, numbered in fabric order."""

    def __init__(self, snapshot: Snapshot, extensions: Extensions) -> None:
        self.snapshot = snapshot
        self.extensions = extensions
        self.shapes = likely_gangs(snapshot)
        self._packs: dict[int, int] = {}
        self._sets = self._all_sets()

    def _all_sets(self) -> list[tuple[int, int]]:
        """List (nodes as bits, value) of every legal location of every shape of the mix."""
        leaves = self.snapshot.fabric.leaves
        homes = [i for i, leaf in enumerate(leaves) for _ in leaf.nodes]
        nodes = [node for leaf in leaves for node in leaf.nodes]
        found: set[tuple[int, int]] = set()
        for shape in self.shapes:
            rule = LeafRule(self.snapshot, phantom_wish(shape.nodes, shape.gpus), self.extensions)
            able = [i for i, node in enumerate(nodes) if rule.eligible(0, node)]
            for where in rule.locations({}):
                rows = [
                    combinations([i for i in able if homes[i] == leaf], n) for leaf, (n,) in where
                ]
                found.update(
                    (sum(1 << i for pick in picks for i in pick), shape.value)
                    for picks in product(*rows)
                )
        return sorted(found)

    def free(self, left: tuple[Resources, ...]) -> int:
        """Tell which nodes are free for a phantom pod, as bits."""
        if not self.shapes:
            return 0
        request = Resources(gpus=self.shapes[0].gpus)
        return sum(1 << i for i, have in enumerate(left) if fits(have, request))

    def best(self, free: int) -> int:
        """Find the greatest value of phantoms on the nodes `free`, no node twice."""
        if free not in self._packs:
            low = free & -free
            top = self.best(free ^ low) if free else 0
            for hosts, value in self._sets:
                if hosts & low and hosts & free == hosts:
                    top = max(top, value + self.best(free ^ hosts))
            self._packs[free] = top
        return self._packs[free]
