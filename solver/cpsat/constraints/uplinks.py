"""Uplinks: the gangs that span leaves share what each leaf's uplink can carry."""

from __future__ import annotations

from collections import defaultdict

from fourleaf.solver.cpsat.program import UNBOUNDED, Program, Terms
from fourleaf.solver.cpsat.variables import GroupVariables, Model
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.objective.scorer import Scorer


def running_demand(state: CycleState) -> dict[object, dict[int, int]]:
    """Gang key -> leaf -> Mbit/s that its running members take, for gangs that span leaves."""
    nodes: dict[object, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    asked: dict[object, int] = {}
    for pod in state.snapshot.running:
        node = state.fabric.index.get(pod.node)
        if pod.gang is not None and pod.bandwidth and node is not None:
            nodes[pod.gang][state.fabric.leaf_of[node]].add(pod.node)
            asked[pod.gang] = pod.bandwidth
    return {
        gang: {leaf: asked[gang] * len(names) for leaf, names in leaves.items()}
        for gang, leaves in nodes.items()
        if len(leaves) > 1
    }


def add_uplinks(model: Model, scorer: Scorer) -> None:
    """One row per limited uplink that some gang of the model may use."""
    state = model.state
    if all(uplink is None for uplink in state.fabric.uplinks):
        return
    running = running_demand(state)
    taken: dict[int, int] = defaultdict(int)
    for leaves in running.values():
        for leaf, demand in leaves.items():
            taken[leaf] += demand
    rows: dict[int, Terms] = defaultdict(list)
    standing: dict[int, Terms] = defaultdict(list)
    for keep in model.keeps:
        for leaf, demand in keep.residents[0].demand:
            standing[leaf].append((demand, keep.variable))
    for variables in model.groups:
        own = running.get(variables.group.gang.key, {}) if variables.group.bound else {}
        for leaf, demand, variable in _demands(variables, scorer):
            rows[leaf].append((demand - own.get(leaf, 0), variable))
    for leaf, terms in rows.items():
        uplink = state.fabric.uplinks[leaf]
        if uplink is not None:
            _limit(model.program, terms, standing[leaf], max(0, uplink - taken[leaf]))


def _limit(program: Program, new: Terms, standing: Terms, left: int) -> None:
    """What stands may stay although it is more than is left; then no new pods come."""
    stands = sum([demand * program.high[variable] for demand, variable in standing])
    if stands <= left:
        program.at_most([*new, *standing], left)
        return
    some = program.variable(1)
    program.at_most([*new, *standing, (stands - left, some)], stands)
    program.row([*new, (-left, some)], UNBOUNDED, 0)


def _demands(variables: GroupVariables, scorer: Scorer) -> list[tuple[int, int, int]]:
    group = variables.group
    if not group.gang.bandwidth:
        return []
    out = [
        (leaf, scorer.demand(group, leaf, counts), variable)
        for place, variable in variables.choices()
        if place.leaves > 1
        for leaf, counts in place.takes
    ]
    out += [
        (leaf, scorer.demand(group, leaf, counts), variable)
        for leaf, counts, variable in variables.takes
        if counts != group.kind.sizes
    ]
    return [item for item in out if item[1]]
