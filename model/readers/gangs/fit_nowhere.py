"""Gangs with a member for which no node is good, even an empty one: no others wait for these."""

from __future__ import annotations

from collections.abc import Collection

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.resources import Resources, counted, fits

MOST_LOOKS = 20_000
"""Looks at nodes in one reading, some 20 ms: a gang of which not all was seen by then may fit."""

MOST_KNOWN = 20_000
"""Pairs of a constraint and a request of which it is known; beyond them all are forgotten."""


class FitNowhere:
    """Which gangs these are, as long as the fabric is the same.

    Only what the solver refuses as well counts, so that who is left out here is never placed.
    """

    def __init__(self) -> None:
        self._fabric: Fabric | None = None
        self._nodes: Collection[Node] = ()
        self._left = 0
        self._known: dict[tuple[NodeConstraint, Resources], bool] = {}

    def begin(self, fabric: Fabric) -> None:
        """Another reading begins, on this fabric."""
        if fabric is not self._fabric or len(self._known) > MOST_KNOWN:
            self._fabric, self._nodes, self._known = fabric, fabric.nodes.values(), {}
        self._left = MOST_LOOKS

    def has(self, gang: Gang) -> bool:
        """Whether the gang is known to be one of them; none is where there are no nodes at all."""
        if not self._nodes:
            return False
        return any(role.pods and self._is_without_node(role) for role in gang.roles)

    def _is_without_node(self, role: Role) -> bool:
        asked = role.constraint, counted(role.request)
        known = self._known.get(asked)
        if known is None:
            if self._left <= 0:
                return False
            known = not any(self._is_good(node, *asked) for node in self._nodes)
            self._known[asked] = known
        return known

    def _is_good(self, node: Node, constraint: NodeConstraint, request: Resources) -> bool:
        self._left -= 1
        return constraint.selects(node) and fits(node.allocatable, request) > 0
