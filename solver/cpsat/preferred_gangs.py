"""Gangs that may use any leaves of a spine: large ones, and those of the policy `Preferred`.

Equal gangs are counted together, by an integer per spine and one for their pods in each
leaf. A gang whose numbers per leaf matter by themselves chooses one of those that the leaf
could hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import add, sub

from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.variables import GroupVariables
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts


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
        takes = _takes(state, group, spine) if group.by_take else {}
        for leaf in state.fabric.spine_leaves[spine]:
            if group.by_take:
                _add_takes(program, state, variables, leaf, chosen, total, takes[leaf])
            else:
                _add_counts(program, state, variables, leaf, chosen, total)
        for role, size in enumerate(group.kind.sizes):
            program.equal([*total[role], (-size, chosen)], 0)


def _takes(state: CycleState, group: GangGroup, spine: int) -> dict[int, tuple[Counts, ...]]:
    """Leaf -> the numbers of pods per role that it may take.

    Where there are too many of them, one: what the leaf takes now of what those before it leave.
    """
    leaves, in_leaf = state.fabric.spine_leaves[spine], state.fabric.in_leaf
    if not group.candidates.many_splits:
        return {leaf: group.candidates.loose_takes(leaf) for leaf in leaves}
    free_gpus = {leaf: sum(state.free[i].gpus for i in in_leaf[leaf]) for leaf in leaves}
    found: dict[int, tuple[Counts, ...]] = dict.fromkeys(leaves, ())
    nothing = (0,) * len(group.roles)
    remaining = tuple(
        size - sum(held[role] for held in group.bound.values())
        for role, size in enumerate(group.kind.sizes)
    )
    for leaf in sorted(leaves, key=lambda leaf: (leaf not in group.bound, -free_gpus[leaf], leaf)):
        new, _ = group.kind.fill_nodes(in_leaf[leaf], remaining, free=state.free)
        counts = tuple(map(add, new, group.bound.get(leaf, nothing)))
        if any(counts) and group.kind.fill(leaf, counts) == counts:
            found[leaf] = (counts,)
            remaining = tuple(map(sub, remaining, new))
    return found


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
    takes: Iterable[Counts],
) -> None:
    group = variables.group
    room = state.room(group.kind).by_leaf
    bound = group.bound.get(leaf)
    here: Terms = []
    for counts in takes:
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
