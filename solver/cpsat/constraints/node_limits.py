"""Laws that count nodes: one pod per node, nodes per leaf, no two phantoms on a node."""

from __future__ import annotations

from collections import defaultdict

from fourleaf.solver.cpsat.demand import NodeClass
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.variables import GroupVariables
from fourleaf.solver.instance.cycle_state import CycleState


def add_node_limits(program: Program, state: CycleState, variables: GroupVariables) -> None:
    """One pod per node, and at most so many nodes a leaf, for a group of one gang."""
    group = variables.group
    kind = group.kind
    pods_on: dict[int, Terms] = defaultdict(list)
    for split in variables.node_classes.values():
        for node_class, terms in split:
            pods_on[node_class.node].extend(terms)
    opened: dict[int, Terms] = defaultdict(list)
    for node, terms in pods_on.items():
        if kind.key.one_per_node:
            program.at_most(terms, 0 if node in group.bound_nodes else 1)
        if kind.max_nodes is not None and node not in group.bound_nodes:
            used = program.variable(1)
            program.at_most([*terms, (-sum(kind.sizes), used)], 0)
            opened[state.fabric.leaf_of[node]].append((1, used))
    if kind.max_nodes is not None:
        for leaf, terms in opened.items():
            taken = sum(1 for i in group.bound_nodes if i in state.fabric.in_leaf[leaf])
            # Of one that stands on more, no place is legal.
            program.at_most(terms, max(0, kind.max_nodes - taken))


def add_phantom_limit(
    program: Program, state: CycleState, node_class: NodeClass, phantoms: list[GroupVariables]
) -> None:
    """No two phantoms share a node; only nodes that could hold two need a row for it."""
    if not phantoms:
        return
    room = state.room(phantoms[0].group.kind).by_node[0]
    if any(room[i] > 1 for i in node_class.nodes):
        terms = [
            term
            for variables in phantoms
            for here, expression in variables.node_classes.get((0, node_class.leaf), [])
            if here is node_class
            for term in expression
        ]
        program.at_most(terms, sum(1 for i in node_class.nodes if room[i]))
