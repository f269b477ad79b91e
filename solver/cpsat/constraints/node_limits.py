"""Laws that count nodes: one pod per node, nodes per leaf, no two phantoms on a node."""

from __future__ import annotations

from collections import defaultdict

from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.variables import GroupVariables, NodeClass
from fourleaf.solver.instance.cycle_state import CycleState


def add_node_limits(program: Program, view: CycleState, variables: GroupVariables) -> None:
    """One pod per node, and at most so many nodes a leaf, for a unit of one gang."""
    unit = variables.unit
    kind = unit.kind
    pods_on: dict[int, Terms] = defaultdict(list)
    for split in variables.bins.values():
        for bin_, terms in split:
            pods_on[bin_.node].extend(terms)
    opened: dict[int, Terms] = defaultdict(list)
    for node, terms in pods_on.items():
        if kind.key.one_per_node:
            program.at_most(terms, 0 if node in unit.bound_nodes else 1)
        if kind.max_nodes is not None and node not in unit.bound_nodes:
            used = program.variable(1)
            program.at_most([*terms, (-sum(kind.sizes), used)], 0)
            opened[view.ground.leaf_of[node]].append((1, used))
    if kind.max_nodes is not None:
        for leaf, terms in opened.items():
            here = view.ground.in_leaf[leaf]
            taken = sum(1 for i in unit.bound_nodes if i in here)
            program.at_most(terms, kind.max_nodes - taken)


def add_phantom_limit(
    program: Program, view: CycleState, bin_: NodeClass, phantoms: list[GroupVariables]
) -> None:
    """No two phantoms share a node; only nodes that could hold two need a row for it."""
    if not phantoms:
        return
    room = view.room(phantoms[0].unit.kind).by_node[0]
    if any(room[i] > 1 for i in bin_.nodes):
        terms = [
            term
            for variables in phantoms
            for here, expression in variables.bins.get((0, bin_.leaf), [])
            if here is bin_
            for term in expression
        ]
        program.at_most(terms, sum(1 for i in bin_.nodes if room[i]))
