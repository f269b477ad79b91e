"""Bins: nodes of a leaf that are the same to every unit of a solve, counted together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Bin:
    """Nodes of one leaf that are eligible for the same pods and worth the same."""

    leaf: int
    nodes: tuple[int, ...]

    @property
    def node(self) -> int:
        """Any node of the bin."""
        return self.nodes[0]
