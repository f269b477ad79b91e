"""One role of a unit, which may put pods into the bins of a leaf."""

from __future__ import annotations

from fourleaf.solver.variables import UnitVariables
from fourleaf.solver.view import View


class User:
    """One role of unit `number`, with what is looked up for every leaf."""

    __slots__ = (
        "bins",
        "bound",
        "by_leaf",
        "by_node",
        "holds",
        "number",
        "one",
        "pods",
        "request",
        "role",
        "stand",
        "variables",
        "whole",
    )

    def __init__(self, view: View, number: int, variables: UnitVariables, role: int) -> None:
        kind = variables.unit.kind
        room = view.room(kind)
        self.number = number
        self.variables = variables
        self.pods = variables.pods
        self.bins = variables.bins
        self.role = role
        self.holds = kind.holds[role]
        self.whole = kind.whole[role]
        self.request = kind.requests[role]
        self.one = kind.key.one_per_node
        self.bound = variables.unit.bound_nodes
        self.stand = variables.unit.stand
        self.by_node = room.by_node[role]
        self.by_leaf = room.by_leaf[role]
