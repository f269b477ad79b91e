"""The sizes of the leaves of a fabric, spine by spine, and the fabric made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.fabric import AdjacencyKind, Fabric, Leaf
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources

OFFER = Resources(gpus=8, cpu=128_000, memory=2 << 40, pods=110)
"""What a node offers where the data does not say: 8 GPUs, 128 cores, 2 TiB."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the leaves, spine by spine."""

    spines: tuple[tuple[int, ...], ...]

    @classmethod
    def regular(cls, nodes: int, leaf: int = 4, spine: int = 8) -> Shape:
        """Leaves of `leaf` nodes, `spine` of them a spine; the last of both take what is left."""
        leaves = [leaf] * (nodes // leaf)
        if nodes % leaf:
            leaves.append(nodes % leaf)
        return cls(tuple(tuple(leaves[i : i + spine]) for i in range(0, len(leaves), spine)))

    @property
    def nodes(self) -> int:
        """All nodes."""
        return sum(sum(sizes) for sizes in self.spines)

    def fabric(
        self, offer: Resources = OFFER, adjacency: AdjacencyKind = AdjacencyKind.CONSECUTIVE
    ) -> Fabric:
        """Nodes that each offer `offer`, under `leaf-0`, `leaf-1`, ... in `spine-0`, ..."""
        leaves: list[Leaf] = []
        for s, sizes in enumerate(self.spines):
            for size in sizes:
                name, spine = f"leaf-{len(leaves)}", f"spine-{s}"
                nodes = tuple(Node(f"{name}-{i}", name, spine, offer) for i in range(size))
                leaves.append(Leaf(name, spine, nodes))
        return Fabric(tuple(leaves), adjacency)


def tiled(spines: Sequence[Sequence[int]], nodes: int) -> Shape:
    """`spines` again and again until there are exactly `nodes` nodes.

    The last leaf and the last spine are cut to fit.
    """
    out: list[tuple[int, ...]] = []
    left = nodes
    while left:
        taken: list[int] = []
        for size in spines[len(out) % len(spines)]:
            taken.append(min(size, left))
            left -= taken[-1]
            if not left:
                break
        out.append(tuple(taken))
    return Shape(tuple(out))
