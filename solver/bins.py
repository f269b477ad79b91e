"""Bins: nodes of a leaf that are the same to every unit of a solve, counted together."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from solver.kinds import Kind
from solver.view import View


@dataclass(slots=True, eq=False)
class Bin:
    """Nodes of one leaf that are eligible for the same pods and worth the same."""

    leaf: int
    nodes: tuple[int, ...]

    @property
    def node(self) -> int:
        """Any node of the bin."""
        return self.nodes[0]


def bins_of(
    view: View, leaf: int, users: list[tuple[Kind, int]], scored: bool, one_by_one: bool
) -> list[Bin]:
    """The bins of a leaf for the (kind, role) pairs that may put pods there.

    `scored` keeps nodes apart that a score could tell apart. `one_by_one` gives each node
    a bin of its own, which makes the rows of the bin exact whatever the requests are; so it is
    where somebody demands something of the devices.
    """
    here = view.ground.in_leaf[leaf]
    if one_by_one or any(kind.requests[role].wants is not None for kind, role in users):
        groups: list[tuple[int, ...]] = [(i,) for i in here]
    else:
        groups = view.by_comfort[leaf] if scored else [tuple(here)]
    if all(kind.whole[role][leaf] for kind, role in users):
        return [Bin(leaf, nodes) for nodes in groups]
    eligible = {id(kind.holds[role]): kind.holds[role] for kind, role in users}
    bins = []
    for nodes in groups:
        split: dict[Hashable, list[int]] = {}
        for i in nodes:
            mask = tuple([holds[i] > 0 for holds in eligible.values()])
            if any(mask):
                split.setdefault(mask, []).append(i)
        bins += [Bin(leaf, tuple(part)) for part in split.values()]
    return bins
