"""The fabric: leaves under spines, in an order, with edges that say who is adjacent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from fourleaf.model.node import Node
from fourleaf.model.resources import Resources


class AdjacencyKind(StrEnum):
    """Which leaves of one spine count as adjacent.

    `consecutive`: neighbours in natural order. `ring`: the same, and the last leaf
    touches the first. `aligned`: consecutive, but a window of k leaves never crosses a
    multiple of the smallest power of two that is at least k. `explicit`: the edges given.
    """

    CONSECUTIVE = "consecutive"
    RING = "ring"
    ALIGNED = "aligned"
    EXPLICIT = "explicit"


@dataclass(frozen=True, slots=True)
class Leaf:
    """The nodes under one leaf switch. `uplink` is its uplink capacity in Mbit/s."""

    name: str
    spine: str
    nodes: tuple[Node, ...]
    uplink: int | None = None


@dataclass(frozen=True)
class Fabric:
    """All leaves in natural order, spine by spine. Built once per change of the node set.

    `unlabelled` are the nodes that name no leaf: each stands apart, or all in one leaf where
    no node names one. `refused` are those that take no pods for it, by the config, and that are
    on no leaf.
    """

    leaves: tuple[Leaf, ...]
    adjacency: AdjacencyKind = AdjacencyKind.CONSECUTIVE
    edges: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    unlabelled: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()

    def with_nodes(self, change: Callable[[Node], Node]) -> Fabric:
        """The same leaves, with each node as `change` has it."""
        leaves = (replace(leaf, nodes=tuple(map(change, leaf.nodes))) for leaf in self.leaves)
        return replace(self, leaves=tuple(leaves))

    @cached_property
    def flat(self) -> bool:
        """Whether no node names a leaf: the only leaf is no switch, and no rule of leaves holds."""
        return bool(self.unlabelled) and len(self.unlabelled) == len(self.nodes)

    @cached_property
    def switches(self) -> tuple[Leaf, ...]:
        """The leaves but for those of nodes that stand apart, each in one of its own."""
        apart = frozenset() if self.flat else self.unlabelled
        return tuple(
            leaf for leaf in self.leaves if not apart.issuperset(n.name for n in leaf.nodes)
        )

    @cached_property
    def states_bandwidth(self) -> bool:
        """Whether any node states its network bandwidth; where none does, none can be compared."""
        return any(node.bandwidth is not None for leaf in self.leaves for node in leaf.nodes)

    @cached_property
    def spines(self) -> Mapping[str, tuple[int, ...]]:
        """Spine name -> positions of its leaves, both in fabric order."""
        found: dict[str, list[int]] = {}
        for position, leaf in enumerate(self.leaves):
            found.setdefault(leaf.spine, []).append(position)
        return {name: tuple(positions) for name, positions in found.items()}

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """Node name -> node."""
        return {node.name: node for leaf in self.leaves for node in leaf.nodes}

    @cached_property
    def offers(self) -> frozenset[Resources]:
        """What its nodes offer when they are empty: each amount once, for most are alike."""
        return frozenset(node.allocatable for leaf in self.leaves for node in leaf.nodes)

    @cached_property
    def leaf_index(self) -> Mapping[str, int]:
        """Leaf name -> its position."""
        return {leaf.name: position for position, leaf in enumerate(self.leaves)}

    @cached_property
    def leaf_of(self) -> Mapping[str, int]:
        """Node name -> position of its leaf."""
        return {node.name: i for i, leaf in enumerate(self.leaves) for node in leaf.nodes}
