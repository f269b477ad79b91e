"""The naive model: a boolean per gang and node, everything in one weighted objective.

What one writes first, for comparison: default parameters, one worker, big weights for
"who", the same scores, windows by a boolean per gang and location. It is the easier problem:
only GPUs are counted, and room for likely gangs is left out. For gangs of whole nodes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from ortools.sat.python import cp_model

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.extensions import Extensions
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.cpsat.open_candidates import open_candidates
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.objective.scorer import Scorer


@dataclass(frozen=True, slots=True)
class Naive:
    """What the naive model reached in its time, building included.

    `gap` is relative to the bound, as that of a plan; `None` where nothing was found.
    """

    seconds: float
    status: str
    gap: float | None
    gpus: int


def solve(snapshot: Snapshot, seconds: float) -> Naive:
    """Solve one snapshot for at most `seconds`."""
    start = time.perf_counter()
    factory = gang_groups_for(snapshot, Extensions())
    state = CycleState(snapshot, factory.fabric)
    scorer = Scorer(state)
    model = cp_model.CpModel()
    on_node: list[list[tuple[int, cp_model.IntVar]]] = [[] for _ in state.fabric.nodes]
    objective = []
    placed: list[tuple[int, cp_model.IntVar]] = []
    for gang in snapshot.gangs:
        unit = factory.of(gang)
        kind = unit.kind
        gpus = kind.requests[0].gpus
        table = scorer.node_points(unit, 0)
        uses = {i: model.new_bool_var("") for i, n in enumerate(kind.holds[0]) if n}
        chosen = []
        at_leaf: dict[int, list[tuple[int, cp_model.IntVar]]] = {}
        places = [
            (place, group.worth[0])
            for group in open_candidates(state, unit, scorer)
            for place, _ in group.places
        ]
        value = placed_value(gang, age_step(state.spec, snapshot.now, gang.created))
        for place, points in places:
            here = model.new_bool_var("")
            chosen.append(here)
            placed.append((gang.weight, here))
            who = value * 10 ** (4 + 3 * gang.priority)
            objective.append((who + points, here))
            for leaf, (count,) in place.takes:
                at_leaf.setdefault(leaf, []).append((count, here))
                objective.append((scorer.leaf_points(unit, (count,), False)[leaf], here))
        model.add_at_most_one(chosen)
        for leaf in range(len(state.fabric.leaves)):
            nodes = [uses[i] for i in state.fabric.in_leaf[leaf] if i in uses]
            if nodes:
                taken = sum(n * x for n, x in at_leaf.get(leaf, []))
                model.add(sum(nodes) == taken)
        for i, use in uses.items():
            on_node[i].append((gpus, use))
            objective.append((gpus * table[state.score_class_of[i]], use))
    for i, claims in enumerate(on_node):
        if claims:
            model.add(sum(g * x for g, x in claims) <= max(0, state.free[i].gpus))
    model.maximize(
        cp_model.LinearExpr.weighted_sum([x for _, x in objective], [c for c, _ in objective])
    )
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    spent = time.perf_counter() - start
    name = solver.status_name(status)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Naive(spent, name, None, 0)
    bound, found = solver.best_objective_bound, solver.objective_value
    gpus = sum(weight for weight, here in placed if solver.boolean_value(here))
    return Naive(spent, name, abs(bound - found) / max(1.0, abs(bound)), gpus)
