"""Where: exactly the gangs chosen, for the best score, with room for likely gangs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.job_mix import LikelyGang
from fourleaf.model.plan import Stage
from fourleaf.model.weights import SCALE
from fourleaf.solver.cpsat.backend import ENDLESS, MANY_VARIABLES
from fourleaf.solver.cpsat.branch_and_cut import branch_and_cut
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.cpsat.constraints.spread import add_spread
from fourleaf.solver.cpsat.core_search import Effort, near_best
from fourleaf.solver.cpsat.cuts.exclusive_use import add_exclusive_use
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.decode import Decoded, decode
from fourleaf.solver.cpsat.gap_closing import best_answer
from fourleaf.solver.cpsat.program import Terms, costs_of
from fourleaf.solver.cpsat.refinement import solve_refined
from fourleaf.solver.cpsat.room_search import RoomSearch
from fourleaf.solver.cpsat.variables import GroupVariables, Model
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts
from fourleaf.solver.instance.preferred_nodes import profiles_of
from fourleaf.solver.objective.scorer import Points, Scorer

WORK_WITH_PREFERENCES = 0.25
"""Work of the search in all, where pods prefer nodes (docs/decisions/0035)."""

MOST_ROUNDS_APART = 4
"""Models of one batch where pods are kept apart: after that the best answer so far is taken."""


BRANCHING_VARIABLES = 3000
"""Variables from which gangs that move are placed by branch and cut: CP-SAT takes longer then."""

BRANCHING_SHARE = 0.9
"""Of the time that is left, what branch and cut may take."""

ROOM_SEARCH_VARIABLES = 500
"""Variables from which large phantoms are counted first: smaller programs are proven at once."""


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
    moving: bool = False,
) -> PlacedBatch | None:
    """The best places for all gangs of `groups`, or `None` where none was found in time.

    The rooms kept for likely gangs are worth at least `least_room`. `moving`: members of many gangs
    stay, so that each is a group of its own.
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
        elif model.rooms and model.program.size >= ROOM_SEARCH_VARIABLES:
            effort = Effort(seed, uniform, deadline, gap, work)
            answer = RoomSearch(model.program, costs, model.rooms, effort).run()
        elif moving and model.program.size >= BRANCHING_VARIABLES:
            share = BRANCHING_SHARE * deadline.left()
            answer = branch_and_cut(model.program, costs, share, gap)
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
    _order_equals(model, scorer, model.groups[:count])
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


def _order_equals(model: Model, scorer: Scorer, groups: Sequence[GroupVariables]) -> None:
    """Of equal loose gangs, each in no spine before that of the one before it.

    They could change places, so nothing is lost, and the search does not try all their orders.
    """
    extensions = model.state.fabric.extensions
    if extensions.node_terms or extensions.leaf_terms:
        return
    before: dict[Hashable, GroupVariables] = {}
    for variables in groups:
        group = variables.group
        if not variables.takes or group.bound or group.within is not None:
            continue
        gang = group.gang
        if scorer.spread_set(group, gang) is not None:
            continue
        profiles = profiles_of(gang, model.state.fabric)
        wishes = (gang.strategy, gang.latency_sensitive, gang.preferred_domain, profiles)
        key = (group.kind, group.candidates, wishes)
        if key in before:
            first = [(-spine, variable) for spine, variable in before[key].spines]
            model.program.row([*first, *variables.spines], 0, ENDLESS)
        before[key] = variables


def _compactness(model: Model, scorer: Scorer, variables: GroupVariables) -> Terms:
    """A loose gang's points for the number of leaves it uses, by one choice per number."""
    if not variables.takes:
        return []
    group = variables.group
    total = scorer.new_weight(group)
    most: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for leaf, counts, _ in variables.takes:
        here = most[model.state.fabric.spine_of[leaf]]
        here[leaf] = max(here[leaf], sum(group.new_pods(leaf, counts)))
    pods = sum(len(role.pods) for role in group.gang.roles)
    least = {spine: _leaves_needed(here.values(), pods) for spine, here in most.items()}
    largest = min(max(map(len, most.values())), sum(group.kind.sizes))
    numbers = range(min(least.values()), largest + 1)
    program, chosen = model.program, variables.spines
    used = [(n, program.variable(1)) for n in numbers]
    program.equal([*((1, v) for _, v in used), *((-1, v) for _, v in chosen)], 0)
    program.equal([*used, *((-1, v) for _, _, v in variables.takes)], 0)
    # The relaxation would fill parts of leaves: no gang stands on fewer than it needs by itself.
    program.row([*used, *((-least.get(spine, 0), v) for spine, v in chosen)], 0, ENDLESS)
    return [(total * scorer.compactness(group.candidates, group.gang, n + 1), v) for n, v in used]


def _leaves_needed(pods_in: Iterable[int], pods: int) -> int:
    """How many leaves of a spine hold so many pods at least; all of them where they do not."""
    count = 0
    for most in sorted(pods_in, reverse=True):
        if pods <= 0:
            break
        pods -= most
        count += 1
    return max(1, count)
