"""Which nodes stand under which leaf, and those that do so twice."""

from __future__ import annotations

from fourleaf.model.readers.topology.findings import Finding, FindingKind, finding


class LeafMembers:
    """Nodes by leaf. A node under two leaves has no place; one named twice counts once."""

    def __init__(self) -> None:
        self._leaves: dict[str, dict[str, int]] = {}

    def add(self, node: str, leaf: str) -> None:
        """Take in that `node` stands under `leaf`."""
        under = self._leaves.setdefault(node, {})
        under[leaf] = under.get(leaf, 0) + 1

    def by_leaf(self) -> dict[str, tuple[str, ...]]:
        """Leaf -> its nodes, both in the order of the source."""
        found: dict[str, list[str]] = {}
        for node, leaves in self._leaves.items():
            if len(leaves) == 1:
                found.setdefault(next(iter(leaves)), []).append(node)
        return {leaf: tuple(nodes) for leaf, nodes in found.items()}

    def findings(self) -> tuple[Finding, ...]:
        """Nodes under two leaves, and nodes named twice under one."""
        two = [node for node, leaves in self._leaves.items() if len(leaves) > 1]
        twice = [node for node, leaves in self._leaves.items() if max(leaves.values()) > 1]
        return (
            *finding(FindingKind.NODE_IN_TWO_LEAVES, two),
            *finding(FindingKind.NODE_TWICE, twice),
        )
