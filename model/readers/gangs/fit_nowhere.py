"""Gangs with a member for which no node is good, even an empty one: no others wait for these."""

from __future__ import annotations

from collections.abc import Collection

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.resources import Resources, counted, fits

MOST_COMPARISONS = 20_000
"""Comparisons with nodes in one reading, 20 ms at most: who was not seen by then may fit."""

MOST_KEPT = 100_000
"""Conditions and values of what is known of constraints; beyond them all is forgotten."""


class FitNowhere:
    """Which gangs these are, as long as the fabric is the same.

    Only what the solver refuses as well counts, so that who is left out here is never placed.
    """

    def __init__(self) -> None:
        self._fabric: Fabric | None = None
        self._nodes: Collection[Node] = ()
        self._left = self._kept = 0
        self._known: dict[tuple[NodeConstraint, Resources], bool] = {}

    def begin(self, fabric: Fabric) -> None:
        """Another reading begins, on this fabric."""
        if fabric is not self._fabric or self._kept > MOST_KEPT:
            self._fabric, self._nodes, self._known = fabric, fabric.nodes.values(), {}
            self._kept = 0
        self._left = MOST_COMPARISONS

    def has(self, gang: Gang) -> bool:
        """Whether the gang is known to be one of them; none is where there are no nodes at all."""
        if not self._nodes:
            return False
        return any(role.pods and self._is_without_node(role) for role in gang.roles)

    def _is_without_node(self, role: Role) -> bool:
        asked = role.constraint, counted(role.request)
        known = self._known.get(asked)
        if known is None:
            known = self._look(*asked)
            if known is None:
                return False
            self._known[asked] = known
            self._kept += _comparisons(role.constraint)
        return known

    def _look(self, constraint: NodeConstraint, request: Resources) -> bool | None:
        """Whether no node is good; None where that would take too long now."""
        cost = _comparisons(constraint)
        for node in self._nodes:
            if self._left < cost:
                return None
            self._left -= cost
            if constraint.selects(node) and fits(node.allocatable, request) > 0:
                return False
        return True


def _comparisons(constraint: NodeConstraint) -> int:
    """How many comparisons it may take to hold a node against it."""
    terms = (1 + len(one.values) for term in constraint.affinity for one in term)
    return 1 + len(constraint.selector) + sum(terms)
