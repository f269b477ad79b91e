"""Then where: exactly the gangs chosen, for the best score, with room for likely gangs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.job_mix import LikelyGang
from fourleaf.model.plan import Stage
from fourleaf.model.weights import SCALE
from fourleaf.solver.cpsat.backend import ENDLESS, MANY
from fourleaf.solver.cpsat.bound_windows import best_answer
from fourleaf.solver.cpsat.builder import Model
from fourleaf.solver.cpsat.constraints.uplinks import add_uplinks
from fourleaf.solver.cpsat.cuts.block_cuts import add_block_cuts
from fourleaf.solver.cpsat.cuts.exclusive_use import add_exclusive_use
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.decode import Decoded, decode
from fourleaf.solver.cpsat.program import Program, Terms, costs_of
from fourleaf.solver.cpsat.variables import GroupVariables
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts
from fourleaf.solver.objective.scorer import Points, Scorer


@dataclass(frozen=True, slots=True)
class PlacedBatch:
    """Placed gangs on nodes, kept rooms (value, nodes), and what is proven."""

    decoded: Decoded
    phantoms: tuple[tuple[LikelyGang, list[int]], ...]
    stage: Stage


def place_gangs(
    view: CycleState,
    units: list[GangGroup],
    phantoms: list[tuple[LikelyGang, GangGroup]],
    scorer: Scorer,
    clock: Deadline,
    refined: frozenset[int],
    least_room: int = 0,
) -> PlacedBatch | None:
    """The best places for all gangs of `units`, or `None` where none was found in time.

    The rooms kept for likely gangs are worth at least `least_room`.
    """
    seconds = 0.0
    everyone = [*units, *(unit for _, unit in phantoms)]
    sizes = {request.gpus for unit in everyone for request in unit.kind.requests}
    seed, uniform = view.spec.solver.seed, len(sizes) <= 1
    while True:
        program = Program()
        layout = Model(program, view, everyone, refined, scorer)
        add_uplinks(layout, scorer)
        add_block_cuts(layout)
        objective: Terms = []
        for variables in layout.units[: len(units)]:
            for number, party in enumerate(variables.unit.parties):
                program.equal(variables.placed(number), len(party.gangs))
            objective += _compactness(layout, scorer, variables)
        rooms = [
            (likely.value, variable)
            for (likely, _), variables in zip(phantoms, layout.units[len(units) :], strict=True)
            for _, variable in variables.placed(0)
        ]
        objective += rooms
        if least_room:
            program.row(rooms, least_room, ENDLESS)
        if program.size < MANY:  # beyond it some find no answer in time with these variables
            add_exclusive_use(program)
        costs = costs_of(program, objective)
        for variables in layout.units[: len(units)]:
            _add_worth(costs, layout, scorer, variables)
        watch = clock.watch()
        answer = best_answer(program, costs, seed, uniform, clock)
        seconds += watch()
        if answer.values is None:
            return None
        decoded = decode(layout, answer.values, {})
        if not decoded.misfits:
            stage = Stage("where", answer.proven, answer.objective, answer.bound, seconds)
            return _split(decoded, phantoms, stage)
        refined |= decoded.misfits


def ceiling(view: CycleState, gangs: Sequence[Gang]) -> int:
    """What no placement of the gangs can exceed: every term met, every node kept as room."""
    weights = sum(gang.pod_weight(role) * len(role.pods) for gang in gangs for role in gang.roles)
    best = max((-(-likely.value // likely.nodes) for likely in view.likely), default=0)
    return SCALE * weights + best * len(view.ground.nodes)


def _split(
    decoded: Decoded, phantoms: list[tuple[LikelyGang, GangGroup]], stage: Stage
) -> PlacedBatch:
    likely_of = {id(unit): likely for likely, unit in phantoms}
    gangs = [placed for placed in decoded.gangs if not placed.unit.phantom]
    kept = tuple(
        (likely_of[id(placed.unit)], placed.nodes[0])
        for placed in decoded.gangs
        if placed.unit.phantom
    )
    return PlacedBatch(Decoded(gangs), kept, stage)


def _add_worth(costs: list[int], layout: Model, scorer: Scorer, variables: GroupVariables) -> None:
    """Points of a unit: by location, by party, by take of a loose gang, and by bin."""
    unit = variables.unit
    inside = scorer.leaf_points(unit, unit.kind.sizes, False)
    across: dict[Counts, Points] = {}

    def points_across(leaf: int, counts: Counts) -> int:
        if counts not in across:
            across[counts] = scorer.leaf_points(unit, counts, True)
        return across[counts][leaf]

    for group in variables.classes:
        alone = 0 if group.flows else group.worth[0]
        for party, flow in group.flows.items():
            costs[flow] += group.worth[party]
        for place, variable in group.places:
            takes = place.takes
            if len(takes) == 1:
                costs[variable] += alone + inside[takes[0][0]]
            else:
                costs[variable] += alone + sum([points_across(*take) for take in takes])
    for leaf, counts, variable in variables.takes:
        preferred = scorer.preference(unit.gang, leaf) * scorer.leaf_weight(unit, leaf, counts)
        points = inside[leaf] if counts == unit.kind.sizes else points_across(leaf, counts)
        costs[variable] += points + preferred
    tables = [scorer.node_points(unit, role) for role in unit.roles]
    weights = [unit.gang.pod_weight(role) for role in unit.gang.roles]
    comfort = layout.view.comfort_id
    for (role, _), split in variables.bins.items():
        for bin_, pods in split:
            points = tables[role][comfort[bin_.nodes[0]]] * weights[role]
            for count, variable in pods:
                costs[variable] += count * points


def _compactness(layout: Model, scorer: Scorer, variables: GroupVariables) -> Terms:
    """A loose gang's points for the number of leaves it uses, by one choice per number."""
    if not variables.takes:
        return []
    unit = variables.unit
    total = scorer.new_weight(unit)
    by_spine: dict[int, int] = defaultdict(int)
    for leaf in {leaf for leaf, _, _ in variables.takes}:
        by_spine[layout.view.ground.spine_of[leaf]] += 1
    most = min(max(by_spine.values()), sum(unit.kind.sizes))
    used = [(n, layout.program.variable(1)) for n in range(1, most + 1)]
    layout.program.equal([*((1, v) for _, v in used), *((-1, v) for _, v in variables.spines)], 0)
    layout.program.equal([*used, *((-1, v) for _, _, v in variables.takes)], 0)
    return [(total * scorer.compactness(unit.locations, unit.gang, n + 1), v) for n, v in used]
