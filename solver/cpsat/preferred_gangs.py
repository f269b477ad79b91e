"""Gangs of the policy `Preferred`, which may use any leaves of a spine.

Equal gangs are counted together, by an integer per spine and one for their pods in each
leaf. A gang whose numbers per leaf matter by themselves chooses one of those that the leaf
could hold.
"""

from __future__ import annotations

from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.variables import GroupVariables
from fourleaf.solver.instance.cycle_state import CycleState


def add_preferred_gangs(program: Program, state: CycleState, variables: GroupVariables) -> None:
    """An integer per spine, and the pods per leaf of the gangs placed there."""
    group = variables.group
    spine_of = state.fabric.spine_of
    bound_spines = {spine_of[leaf] if leaf >= 0 else -1 for leaf in group.bound}
    if len(bound_spines) > 1 or -1 in bound_spines:
        return
    for spine in group.candidates.loose_spines:
        if bound_spines and spine not in bound_spines:
            continue
        if group.within is not None and spine not in group.within:
            continue
        chosen = program.variable(group.most)
        variables.spines.append((spine, chosen))
        total: list[Terms] = [[] for _ in group.roles]
        add = _add_takes if group.by_take else _add_counts
        for leaf in state.fabric.spine_leaves[spine]:
            add(program, state, variables, leaf, chosen, total)
        for role, size in enumerate(group.kind.sizes):
            program.equal([*total[role], (-size, chosen)], 0)


def _add_counts(
    program: Program,
    state: CycleState,
    variables: GroupVariables,
    leaf: int,
    chosen: int,
    total: list[Terms],
) -> None:
    group = variables.group
    room = state.room(group.kind).by_leaf[0][leaf]
    most = min(group.kind.sizes[0], group.kind.capacity[leaf])
    if room and most:
        pods = program.variable(min(room, most * group.most))
        program.at_most([(1, pods), (-most, chosen)], 0)
        variables.pods[0, leaf] = [(1, pods)]
        total[0].append((1, pods))


def _add_takes(
    program: Program,
    state: CycleState,
    variables: GroupVariables,
    leaf: int,
    chosen: int,
    total: list[Terms],
) -> None:
    group = variables.group
    room = state.room(group.kind).by_leaf
    bound = group.bound.get(leaf)
    here: Terms = []
    for counts in group.candidates.loose_takes(leaf):
        if bound and any(a < b for a, b in zip(counts, bound, strict=True)):
            continue
        new = group.new_pods(leaf, counts)
        if any(n > room[role][leaf] + group.beyond_room(role, leaf) for role, n in enumerate(new)):
            continue
        taken = program.variable(1)
        variables.takes.append((leaf, counts, taken))
        here.append((1, taken))
        for role, count in enumerate(counts):
            if count:
                total[role].append((count, taken))
            if new[role]:
                variables.pods.setdefault((role, leaf), []).append((new[role], taken))
    if bound:
        program.equal([*here, (-1, chosen)], 0)
    elif here:
        program.at_most([*here, (-1, chosen)], 0)
