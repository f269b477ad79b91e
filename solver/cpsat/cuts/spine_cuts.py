"""Blocks of spines: how many large gangs a spine has room for, as whole numbers.

A gang that may use any leaves of a spine is bounded by the leaves' rows alone, and these let the
relaxation fill the last room of a spine with a part of a gang. Let a spine offer F slots for pods
of size g, and let gangs take T of them each. Counted in blocks of t slots, as in `block_cuts`:

    sum over gangs of floor(T / t) <= floor(F / t)
"""

from __future__ import annotations

from collections import defaultdict

from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.cpsat.variables import GroupVariables, Model


def add_spine_cuts(model: Model) -> None:
    """A row for every spine and every size of gang that may use any of its leaves."""
    loose = [variables for variables in model.groups if variables.spines]
    size = max((r.gpus for v in model.groups for r in v.group.kind.requests), default=0)
    blocks = sorted({n for one in loose if (n := _slots(one, size)) > 1})
    if not size or not blocks:
        return
    free, fabric = model.state.slots(size), model.state.fabric
    takes: dict[int, Terms] = defaultdict(list)
    for variables in model.groups:
        for spine, variable in variables.spines:
            takes[spine].append((_slots(variables, size), variable))
        _add_windows(model, variables, size, blocks[0], takes)
    for spine, terms in takes.items():
        leaves = fabric.spine_leaves[spine]
        nodes = [i for leaf in leaves for i in fabric.in_leaf[leaf] if fabric.schedulable[i]]
        slots = sum([free[i] for i in nodes])
        for block in blocks:
            here = [(count // block, v) for count, v in terms if count >= block]
            if here and slots % block:
                model.program.at_most(here, slots // block)


def _slots(variables: GroupVariables, size: int) -> int:
    """Slots that the new pods of a gang take."""
    roles = zip(variables.group.kind.requests, variables.group.gang.roles, strict=True)
    return sum(len(role.pods) for request, role in roles if request.gpus == size)


def _add_windows(
    model: Model, variables: GroupVariables, size: int, least: int, takes: dict[int, Terms]
) -> None:
    """What each place of `least` slots or more takes of its spines."""
    group, spine_of = variables.group, model.state.fabric.spine_of
    roles = [role for role in group.roles if group.kind.requests[role].gpus == size]
    if sum(group.kind.sizes[role] for role in roles) < least:
        return
    for place, variable in variables.choices():
        counts: dict[int, int] = defaultdict(int)
        for leaf, here in place.takes:
            new = group.new_pods(leaf, here)
            counts[spine_of[leaf]] += sum(new[role] for role in roles)
        for spine, count in counts.items():
            takes[spine].append((count, variable))
