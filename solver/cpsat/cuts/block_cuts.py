"""Blocks: rows that no integer answer breaks and that make the relaxation nearly integral.

Let a leaf offer F slots for pods of size g, and let gangs take T of them each. Counted in
blocks of t slots:

    sum over gangs of floor(T / t) <= floor(F / t)

and where a gang class would get something extra for one leaf, the relaxation likes to give it a
slot there beside a gang that needs the whole leaf. But a gang that takes T > F mod t slots
costs a block, so with m gangs of the gang class at most, of which f stand there,

    m * sum over gangs of floor(T / t) + f <= m * floor(F / t).

Both are Chvatal-Gomory cuts of the slot row, the second after complementing f.
"""

from __future__ import annotations

from collections import defaultdict

from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.cpsat.variables import Model


def add_block_cuts(model: Model) -> None:
    """The rows for the pods of the largest size asked for, in every leaf."""
    sizes = {request.gpus for v in model.groups for request in v.group.kind.requests}
    size = max(sizes, default=0)
    if not size:
        return
    takes: dict[int, Terms] = defaultdict(list)
    for variables in model.groups:
        largest = [request.gpus == size for request in variables.group.kind.requests]
        for (role, leaf), terms in variables.pods.items():
            if largest[role]:
                takes[leaf] += terms
    _add_rest(model, size)
    free = model.state.slots(size)
    extras = _extras(model, size)
    in_leaf, schedulable = model.state.fabric.in_leaf, model.state.fabric.schedulable
    for leaf, terms in takes.items():
        slots = sum([free[i] for i in in_leaf[leaf] if schedulable[i]])
        for block in sorted({count for count, _ in terms if count > 1}):
            rest = slots % block
            flows = [flow for count, flow in extras.get(leaf, ()) if rest < count < block]
            if not rest and not flows:
                continue
            blocks = [(count // block, v) for count, v in terms if count >= block]
            if rest:
                model.program.at_most(blocks, slots // block)
            for flow in flows:
                most = model.program.high[flow]
                lost = [(most * n, v) for n, v in blocks]
                model.program.at_most([*lost, (1, flow)], most * (slots // block))


def _add_rest(model: Model, size: int) -> None:
    """What the gangs leave of the whole fabric, in blocks: the phantoms have no more."""
    free = model.state.slots(size)
    schedulable = model.state.fabric.schedulable
    left = sum([slots for slots, ok in zip(free, schedulable, strict=True) if ok])
    phantoms: list[tuple[int, int]] = []
    for variables in model.groups:
        kind = variables.group.kind
        if variables.group.phantom:
            if kind.requests[0].gpus == size:
                phantoms += [(kind.sizes[0], v) for _, v in variables.placed(0)]
            continue
        pods = sum(
            len(role.pods) for role in variables.group.gang.roles if role.request.gpus == size
        )
        left -= pods * sum(len(gang_class.gangs) for gang_class in variables.group.gang_classes)
    for block in sorted({count for count, _ in phantoms}):
        blocks = [(count // block, v) for count, v in phantoms if count >= block]
        model.program.at_most(blocks, max(0, left) // block)


def _extras(model: Model, size: int) -> dict[int, list[tuple[int, int]]]:
    """Leaf -> (slots a gang takes, flow), for flows that stand for one leaf alone."""
    out: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for variables in model.groups:
        if len(variables.group.kind.sizes) == 1 and variables.group.kind.requests[0].gpus == size:
            for candidate_class in variables.classes:
                places = candidate_class.places
                if len(places) == 1 and places[0][0].leaves == 1:
                    ((leaf, (count,)),) = places[0][0].takes
                    out[leaf] += [(count, flow) for flow in candidate_class.flows.values()]
    return out
