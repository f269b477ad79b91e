"""Blocks: rows that no integer answer breaks and that make the relaxation nearly integral.

Let a leaf offer F slots for pods of size g, and let gangs take T of them each. Counted in
blocks of t slots:

    sum over gangs of floor(T / t) <= floor(F / t)

and where a party would get something extra for one leaf, the relaxation likes to give it a
slot there beside a gang that needs the whole leaf. But a gang that takes T > F mod t slots
costs a block, so with m gangs of the party at most, of which f stand there,

    m * sum over gangs of floor(T / t) + f <= m * floor(F / t).

Both are Chvatal-Gomory cuts of the slot row, the second after complementing f.
"""

from __future__ import annotations

from collections import defaultdict

from fourleaf.solver.cpsat.builder import Model
from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.cpsat.variables import GroupVariables


def add_block_cuts(layout: Model) -> None:
    """The rows for the pods of the largest size asked for, in every leaf."""
    sizes = {request.gpus for v in layout.units for request in v.unit.kind.requests}
    size = max(sizes, default=0)
    if not size:
        return
    takes: dict[int, Terms] = defaultdict(list)
    for variables in layout.units:
        largest = [request.gpus == size for request in variables.unit.kind.requests]
        for (role, leaf), terms in variables.pods.items():
            if largest[role]:
                takes[leaf] += terms
    _add_rest(layout, size)
    free = layout.view.slots(size)
    extras = _extras(layout, size)
    in_leaf, schedulable = layout.view.ground.in_leaf, layout.view.ground.schedulable
    for leaf, terms in takes.items():
        slots = sum([free[i] for i in in_leaf[leaf] if schedulable[i]])
        for block in sorted({count for count, _ in terms if count > 1}):
            rest = slots % block
            flows = [flow for count, flow in extras.get(leaf, ()) if rest < count < block]
            if not rest and not flows:
                continue
            blocks = [(count // block, v) for count, v in terms if count >= block]
            if rest:
                layout.program.at_most(blocks, slots // block)
            for flow in flows:
                most = layout.program.high[flow]
                lost = [(most * n, v) for n, v in blocks]
                layout.program.at_most([*lost, (1, flow)], most * (slots // block))


def _add_rest(layout: Model, size: int) -> None:
    """What the gangs leave of the whole fabric, in blocks: the phantoms have no more."""
    free = layout.view.slots(size)
    schedulable = layout.view.ground.schedulable
    left = sum([slots for slots, ok in zip(free, schedulable, strict=True) if ok])
    phantoms: list[tuple[int, int]] = []
    for variables in layout.units:
        kind = variables.unit.kind
        if variables.unit.phantom:
            if kind.requests[0].gpus == size:
                phantoms += [(kind.sizes[0], v) for _, v in variables.placed(0)]
            continue
        pods = sum(
            len(role.pods) for role in variables.unit.gang.roles if role.request.gpus == size
        )
        left -= pods * sum(len(party.gangs) for party in variables.unit.parties)
    for block in sorted({count for count, _ in phantoms}):
        blocks = [(count // block, v) for count, v in phantoms if count >= block]
        layout.program.at_most(blocks, max(0, left) // block)


def _extras(layout: Model, size: int) -> dict[int, list[tuple[int, int]]]:
    """Leaf -> (slots a gang takes, flow), for flows that stand for one leaf alone."""
    out: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for variables in layout.units:
        if len(variables.unit.kind.sizes) == 1 and variables.unit.kind.requests[0].gpus == size:
            for leaf, count, flow in _single_places(variables):
                out[leaf].append((count, flow))
    return out


def _single_places(variables: GroupVariables) -> list[tuple[int, int, int]]:
    return [
        (leaf, counts[0], flow)
        for group in variables.classes
        if len(group.places) == 1 and group.places[0][0].leaves == 1
        for leaf, counts in group.places[0][0].takes
        for flow in group.flows.values()
    ]
