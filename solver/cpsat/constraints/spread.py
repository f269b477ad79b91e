"""Spread: what pods that a strategy keeps apart cost where they share a node or a leaf.

A variable for each node class and each leaf counts those that are one too many there. Where a class
has several nodes, its row is the least that they can be; what the nodes then come to is looked at
when they are handed out, and a leaf where it is more is modelled node by node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from fourleaf.solver.cpsat.demand import NodeClass
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.variables import GroupVariables, Model, SpreadRows
from fourleaf.solver.instance.spread_sets import SpreadSet
from fourleaf.solver.objective.scorer import Scorer


def add_spread(model: Model, scorer: Scorer, groups: Sequence[GroupVariables]) -> Terms:
    """The points that the pods of `groups` lose."""
    members: dict[Hashable, list[GroupVariables]] = defaultdict(list)
    sets: dict[Hashable, SpreadSet] = {}
    for variables in groups:
        one = scorer.spread_set(variables.group, variables.group.gang)
        if one is not None:
            members[one.key].append(variables)
            sets[one.key] = one
    objective: Terms = []
    for key, one in sets.items():
        spread = SpreadRows(one, members[key])
        model.spreads.append(spread)
        kinds = [variables.group.kind for variables in spread.groups]
        rooms = [by_node for kind in kinds for by_node in model.state.room(kind).by_node]
        for node_class, terms in _by_class(spread.groups).items():
            extra = _excess(model.program, terms, _room(one, rooms, node_class))
            if extra is not None:
                spread.excess[node_class.leaf].append(extra)
                objective.append((-one.points, extra))
        for leaf, terms in _by_leaf(spread.groups).items():
            room = one.room_in(leaf)
            extra = None if room is None else _excess(model.program, terms, room)
            if extra is not None:
                objective.append((-one.points, extra))
    return objective


def _by_class(groups: Sequence[GroupVariables]) -> dict[NodeClass, Terms]:
    found: dict[NodeClass, Terms] = defaultdict(list)
    for variables in groups:
        for split in variables.node_classes.values():
            for node_class, terms in split:
                found[node_class] += terms
    return found


def _by_leaf(groups: Sequence[GroupVariables]) -> dict[int, Terms]:
    found: dict[int, Terms] = defaultdict(list)
    for variables in groups:
        for (_, leaf), terms in variables.pods.items():
            found[leaf] += terms
    return found


def _room(one: SpreadSet, rooms: Sequence[Sequence[int]], node_class: NodeClass) -> int:
    """How many pods of the set the nodes of a class hold before one is too many there.

    `rooms` say of each role how many of its pods each node could hold.
    """
    if len(rooms) == 1 and not one.on_node:
        (by_node,), most = rooms, one.per_node
        return sum([min(most, by_node[node]) for node in node_class.nodes])
    return sum(
        [
            min(one.room_on(node), sum([by_node[node] for by_node in rooms]))
            for node in node_class.nodes
        ]
    )


def _excess(program: Program, terms: Terms, room: int) -> int | None:
    """A variable for what `terms` come to beyond `room`, None where they cannot."""
    high = program.high
    most = sum([count * high[variable] for count, variable in terms]) - room
    if most <= 0:
        return None
    extra = program.variable(most)
    program.at_most([*terms, (-1, extra)], room)
    return extra
