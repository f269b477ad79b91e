"""Demand: pods that ask for the same in one node class, as constraints about room see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.resources import Resources
from fourleaf.solver.cpsat.program import Terms


@dataclass(slots=True, eq=False)
class NodeClass:
    """Nodes of one leaf that are eligible for the same pods and worth the same."""

    leaf: int
    nodes: tuple[int, ...]

    @property
    def node(self) -> int:
        """Any node of the class."""
        return self.nodes[0]


@dataclass(slots=True)
class Demand:
    """Pods that ask for `request` in a node class: their number is the sum of `terms`."""

    request: Resources
    terms: Terms
    room: int
    """How many of them alone fit into the class."""
    kept: Sequence[tuple[int, int]] = ()
    """Terms: how many of them stand there already and stay."""
    stands: int = 0
    """How many stay at most, counted once for each gang."""
