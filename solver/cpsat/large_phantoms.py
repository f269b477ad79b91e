"""Phantoms that may use any leaves of a spine, which are counted by spine alone.

What they may use is room for whole nodes anywhere in a spine, and all of them ask for the same. So
an integer for each size and spine counts them, and one for each leaf the nodes that they take there
together: which of them takes which makes no difference to any row.
"""

from __future__ import annotations

from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.cpsat.variables import GroupVariables, Model


def add_large_phantoms(model: Model) -> None:
    """Their variables, and that a spine has nodes for all that it counts.

    Caps on what one gang takes of a leaf tell them apart: with such, nothing is added here.
    """
    large = [
        position
        for position, variables in enumerate(model.groups)
        if variables.group.phantom and variables.group.loose and not _capped(variables)
    ]
    if not large:
        return
    host = model.groups[large[0]]
    for position in large:
        model.groups[position].room_of = large[0]
    room = model.state.room(host.group.kind).by_leaf[0]
    of_size = [(v.group.kind.sizes[0], v) for v in (model.groups[at] for at in reversed(large))]
    for spine, leaves in enumerate(model.state.fabric.spine_leaves):
        nodes = sum([room[leaf] for leaf in leaves])
        taken: Terms = []
        for size, variables in of_size:
            if nodes >= size and spine in variables.group.candidates.loose_spines:
                count = model.program.variable(nodes // size)
                variables.spines.append((spine, count))
                taken.append((-size, count))
                model.rooms.append((size, count))
        if not taken:
            continue
        for leaf in leaves:
            if room[leaf]:
                pods = model.program.variable(room[leaf])
                host.pods[0, leaf] = [(1, pods)]
                taken.append((1, pods))
        model.program.equal(taken, 0)


def _capped(variables: GroupVariables) -> bool:
    """Whether a law limits what one gang takes of a leaf."""
    kind = variables.group.kind
    return kind.max_nodes is not None or kind.max_gpus is not None
