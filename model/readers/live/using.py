"""Nodes of a fabric of which only who may use them has changed: no need to build it anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.model.fabric import Fabric
from fourleaf.model.node import Node


def same_but_for_use(one: Node, other: Node) -> bool:
    """Whether two nodes differ in nothing but who may use them, and how often they failed."""
    return _used_like(one, other) == other


def used_like(fabric: Fabric, nodes: Sequence[Node]) -> Fabric:
    """`fabric` with its nodes as usable as those of the same name in `nodes` say.

    Whoever is not in it is left out, and it stays the same object where nothing is different.
    """
    different: dict[int, dict[str, Node]] = {}
    for node in nodes:
        leaf = fabric.leaf_of.get(node.name)
        if leaf is not None and not _same_use(fabric.nodes[node.name], node):
            different.setdefault(leaf, {})[node.name] = node
    if not different:
        return fabric
    leaves = list(fabric.leaves)
    for leaf, some in different.items():
        new = (
            _used_like(old, some[old.name]) if old.name in some else old
            for old in leaves[leaf].nodes
        )
        leaves[leaf] = replace(leaves[leaf], nodes=tuple(new))
    return replace(fabric, leaves=tuple(leaves))


def _same_use(one: Node, other: Node) -> bool:
    """Whether the same may use two nodes, and they failed as often."""
    return _used_like(one, other) == one


def _used_like(node: Node, other: Node) -> Node:
    return replace(
        node,
        ready=other.ready,
        cordoned=other.cordoned,
        taints=other.taints,
        failure_permille=other.failure_permille,
    )
