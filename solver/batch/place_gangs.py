"""Then where: exactly the gangs chosen, for the best score, with room for likely gangs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.job_mix import LikelyGang
from fourleaf.model.plan import Stage
from fourleaf.model.weights import SCALE
from fourleaf.solver.cpsat.backend import ENDLESS, MANY_VARIABLES
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.cpsat.constraints.spread import add_spread
from fourleaf.solver.cpsat.core_search import near_best
from fourleaf.solver.cpsat.cuts.exclusive_use import add_exclusive_use
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.decode import Decoded, decode
from fourleaf.solver.cpsat.gap_closing import best_answer
from fourleaf.solver.cpsat.program import Terms, costs_of
from fourleaf.solver.cpsat.refinement import solve_refined
from fourleaf.solver.cpsat.variables import GroupVariables, Model
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts
from fourleaf.solver.objective.scorer import Points, Scorer

WORK_WITH_PREFERENCES = 0.25
"""Work of the search in all, where pods prefer nodes (docs/decisions/0035)."""

MOST_ROUNDS_APART = 4
"""Models of one batch where pods are kept apart: after that the best answer so far is taken."""


@dataclass(frozen=True, slots=True)
class PlacedBatch:
    """Placed gangs on nodes, kept rooms (value, nodes), and what is proven."""

    decoded: Decoded
    phantoms: tuple[tuple[LikelyGang, list[int]], ...]
    stage: Stage


def place_gangs(
    state: CycleState,
    groups: list[GangGroup],
    phantoms: list[tuple[LikelyGang, GangGroup]],
    scorer: Scorer,
    deadline: Deadline,
    refined: frozenset[int],
    least_room: int = 0,
) -> PlacedBatch | None:
    """The best places for all gangs of `groups`, or `None` where none was found in time.

    The rooms kept for likely gangs are worth at least `least_room`.
    """
    seconds = 0.0
    everyone = [*groups, *(group for _, group in phantoms)]
    sizes = {request.gpus for group in everyone for request in group.kind.requests}
    seed, gap, uniform = state.spec.solver.seed, state.spec.solver.gap, len(sizes) <= 1
    almost: PlacedBatch | None = None
    rounds = 0

    def solve(refined: frozenset[int]) -> tuple[PlacedBatch, frozenset[int]] | None:
        nonlocal seconds, almost, rounds
        rounds += 1
        model = build(state, everyone, refined, scorer, scored=True)
        costs = _objective(model, scorer, len(groups), phantoms, least_room)
        work = WORK_WITH_PREFERENCES if state.prefers or model.spreads else math.inf
        timer = deadline.timer()
        answer = None
        if model.large:
            answer = near_best(model.program, costs, seed, uniform, deadline, gap, work)
        if answer is None:
            answer = best_answer(model.program, costs, seed, uniform, deadline, work)
        seconds += timer()
        if answer.values is None:
            return None
        decoded = decode(model, answer.values, {})
        proven, value = answer.proven and not decoded.misfits, answer.objective - decoded.lost
        stage = Stage("where", proven, value, answer.bound, seconds)
        placed = _split(decoded, phantoms, stage)
        if decoded.gangs and (almost is None or value > almost.stage.objective):
            almost = placed
        return placed, decoded.misfits

    def instead(_: PlacedBatch, __: frozenset[int]) -> PlacedBatch | None:
        return almost if rounds >= MOST_ROUNDS_APART else None

    return solve_refined(solve, refined, instead=instead) or almost


def _objective(
    model: Model,
    scorer: Scorer,
    count: int,
    phantoms: list[tuple[LikelyGang, GangGroup]],
    least_room: int,
) -> list[int]:
    """What every variable is worth; exactly the gangs of the first `count` groups are placed."""
    program = model.program
    objective: Terms = []
    for variables in model.groups[:count]:
        for number, gang_class in enumerate(variables.group.gang_classes):
            program.equal(variables.placed(number), len(gang_class.gangs))
        objective += _compactness(model, scorer, variables)
    objective += add_spread(model, scorer, model.groups[:count])
    rooms = [
        (likely.value, variable)
        for (likely, _), variables in zip(phantoms, model.groups[count:], strict=True)
        for _, variable in variables.placed(0)
    ]
    objective += rooms
    if least_room:
        program.row(rooms, least_room, ENDLESS)
    # A core has few variables to branch on, and many others find no answer in time with these.
    if not model.large and program.size < MANY_VARIABLES:
        add_exclusive_use(program)
    costs = costs_of(program, objective)
    for variables in model.groups[:count]:
        _add_worth(costs, model, scorer, variables)
    return costs


def ceiling(state: CycleState, gangs: Sequence[Gang]) -> int:
    """What no placement of the gangs can exceed: every term met, every node kept as room."""
    weights = sum(gang.pod_weight(role) * len(role.pods) for gang in gangs for role in gang.roles)
    best = max((-(-likely.value // likely.nodes) for likely in state.likely), default=0)
    return SCALE * weights + best * len(state.fabric.nodes)


def _split(
    decoded: Decoded, phantoms: list[tuple[LikelyGang, GangGroup]], stage: Stage
) -> PlacedBatch:
    likely_of = {group: likely for likely, group in phantoms}
    gangs = [placed for placed in decoded.gangs if not placed.group.phantom]
    kept = tuple(
        (likely_of[placed.group], placed.nodes[0])
        for placed in decoded.gangs
        if placed.group.phantom
    )
    return PlacedBatch(Decoded(gangs), kept, stage)


def _add_worth(costs: list[int], model: Model, scorer: Scorer, variables: GroupVariables) -> None:
    """Points of a group: by candidate, gang class, take of a loose gang, and node class."""
    group = variables.group
    inside = scorer.leaf_points(group, group.kind.sizes, False)
    across: dict[Counts, Points] = {}

    def points_across(leaf: int, counts: Counts) -> int:
        if counts not in across:
            across[counts] = scorer.leaf_points(group, counts, True)
        return across[counts][leaf]

    for worth, flows in variables.all_flows():
        for gang_class, flow in flows.items():
            costs[flow] += worth[gang_class]
    single = len(group.gang_classes) == 1
    for candidate_class in variables.classes:
        alone = candidate_class.worth[0] if single else 0
        for place, variable in candidate_class.places:
            takes = place.takes
            if len(takes) == 1:
                costs[variable] += alone + inside[takes[0][0]]
            else:
                costs[variable] += alone + sum([points_across(*take) for take in takes])
    for leaf, counts, variable in variables.takes:
        preferred = scorer.preference(group.gang, leaf) * scorer.leaf_weight(group, leaf, counts)
        points = inside[leaf] if counts == group.kind.sizes else points_across(leaf, counts)
        costs[variable] += points + preferred
    tables = [scorer.node_points(group, role) for role in group.roles]
    weights = [group.gang.pod_weight(role) for role in group.gang.roles]
    score_class = model.state.score_class_of
    for (role, _), split in variables.node_classes.items():
        for node_class, pods in split:
            points = tables[role][score_class[node_class.nodes[0]]] * weights[role]
            for count, variable in pods:
                costs[variable] += count * points


def _compactness(model: Model, scorer: Scorer, variables: GroupVariables) -> Terms:
    """A loose gang's points for the number of leaves it uses, by one choice per number."""
    if not variables.takes:
        return []
    group = variables.group
    total = scorer.new_weight(group)
    by_spine: dict[int, int] = defaultdict(int)
    for leaf in {leaf for leaf, _, _ in variables.takes}:
        by_spine[model.state.fabric.spine_of[leaf]] += 1
    most = min(max(by_spine.values()), sum(group.kind.sizes))
    used = [(n, model.program.variable(1)) for n in range(1, most + 1)]
    model.program.equal([*((1, v) for _, v in used), *((-1, v) for _, v in variables.spines)], 0)
    model.program.equal([*used, *((-1, v) for _, _, v in variables.takes)], 0)
    return [(total * scorer.compactness(group.candidates, group.gang, n + 1), v) for n, v in used]
