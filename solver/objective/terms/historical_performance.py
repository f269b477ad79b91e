"""`historicalPerformance`: how rarely the node has failed, 1000 - failure_permille."""

from __future__ import annotations

from fourleaf.model.node import Node

NAME = "historicalPerformance"


def value(node: Node) -> int:
    """The term for any pod on one node, 0..1000."""
    return 1000 - node.failure_permille
