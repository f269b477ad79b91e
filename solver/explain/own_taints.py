"""The taints of a node that are its own: others come and go with its cordon and its readiness."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.node import Node

_OF_CORDONS = frozenset({"node.kubernetes.io/unschedulable"})
_OF_READINESS = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
"""Keys of the taints that the control plane puts on a node, and takes off again, by itself."""


def own_taints(node: Node) -> Node:
    """The node without the taints that say what is said of it: that it is cordoned, not ready."""
    return _without(node, cordon=node.cordoned, readiness=not node.ready)


def uncordoned(node: Node) -> Node:
    """The node as it would be without its cordon."""
    return replace(_without(node, cordon=True), cordoned=False) if node.cordoned else node


def made_ready(node: Node) -> Node:
    """The node as it would be if it were ready."""
    return node if node.ready else replace(_without(node, readiness=True), ready=True)


def unsealed(node: Node) -> Node:
    """The node as it would be if its record could be read and written."""
    return replace(node, sealed=False) if node.sealed else node


def _without(node: Node, cordon: bool = False, readiness: bool = False) -> Node:
    keys = (_OF_CORDONS if cordon else frozenset()) | (_OF_READINESS if readiness else frozenset())
    if not any(taint.key in keys for taint in node.taints):
        return node
    return replace(node, taints=tuple(taint for taint in node.taints if taint.key not in keys))
