"""Who: which gangs are placed, tier by tier, for the greatest value.

A gang's tier and age decide whether it is placed, never where. So the candidate integers
stand per group, and one integer per class (group, tier, age step, quota) counts how many of
it are placed. Each tier is solved in turn and fixes its counts: strictly lexicographic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Stage
from fourleaf.solver.batch.first_fit import FirstFit, demand, plain
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.cpsat.constraints.quota import add_quotas, new_gpus, quota_left
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.decode import Decoded, PlacedGang, decode
from fourleaf.solver.cpsat.lexicographic import LexicographicSearch, TierClass
from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.cpsat.refinement import solve_refined
from fourleaf.solver.cpsat.variables import Model
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup, gang_order
from fourleaf.solver.objective.scorer import Scorer


@dataclass(frozen=True, slots=True)
class Chosen:
    """The gangs to place; `refined` are the leaves whose nodes had to be modelled singly.

    `anywhere` is a placement of them that obeys every law, whatever it is worth. Its groups tell
    apart where gangs may go, not what a place is worth to them.
    """

    gangs: list[Gang]
    anywhere: list[PlacedGang]
    stages: tuple[Stage, ...]
    refined: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One run over all tiers: its variables, their values, and what is proven."""

    model: Model
    classes: list[TierClass]
    values: list[int]
    stages: tuple[Stage, ...]


Both = tuple[list[GangGroup], list[GangGroup]]
"""Scarce groups, and those in plenty."""

Solved = tuple[tuple[_Attempt, Decoded, frozenset[int]], frozenset[int]]
"""An attempt, where it puts the gangs, what was refined for it; and the leaves that fail."""


def select_gangs(
    state: CycleState,
    groups: list[GangGroup],
    scorer: Scorer,
    deadline: Deadline,
    on_stage: Callable[[Stage], None],
) -> Chosen | None:
    """The gangs to place, or `None` where the solver found nothing in time."""
    refined: frozenset[int] = frozenset()
    scarce = [group for group in groups if not plain(group)]
    plenty = sorted([group for group in groups if plain(group)], key=demand, reverse=True)
    while True:
        both = (scarce, plenty)

        def solve(refined: frozenset[int], both: Both = both) -> Solved | None:
            attempt = _attempt(state, *both, scorer, deadline, refined)
            if attempt is None:
                return None
            decoded = decode(attempt.model, attempt.values, _placed(attempt.classes))
            return (attempt, decoded, refined), decoded.misfits

        solved = solve_refined(solve, refined)
        if solved is None:
            return None
        attempt, decoded, refined = solved
        seated = _seat(state, attempt.classes, len(scarce), plenty, decoded.gangs)
        if seated is not None:
            for stage in attempt.stages:
                on_stage(stage)
            gangs = [g for c in attempt.classes for g in c.gangs[: c.count]]
            return Chosen(sorted(gangs, key=gang_order), seated, attempt.stages, refined)
        scarce, plenty = [*scarce, *plenty], []


def _seat(
    state: CycleState,
    classes: list[TierClass],
    scarce: int,
    plenty: list[GangGroup],
    placed: list[PlacedGang],
) -> list[PlacedGang] | None:
    """All gangs on nodes; `None` where some in plenty find no room beside those `placed`."""
    counted = _placed(classes)
    left = FirstFit(state, placed)
    everyone = list(placed)
    for position, group in enumerate(plenty):
        number = scarce + position
        gangs = {i: counted.get((number, i), []) for i in range(len(group.gang_classes))}
        seated = left.seat(group, gangs)
        if seated is None:
            return None
        everyone += seated
    return everyone


def _attempt(
    state: CycleState,
    scarce: list[GangGroup],
    plenty: list[GangGroup],
    scorer: Scorer,
    deadline: Deadline,
    refined: frozenset[int],
) -> _Attempt | None:
    """Count all gangs, those of the groups in plenty as if they did not need room."""
    model = build(state, scarce, refined, scorer)
    program = model.program
    classes = _classes(state, [*scarce, *plenty])
    totals: dict[tuple[int, int], Terms] = defaultdict(list)
    quotas: dict[str, Terms] = defaultdict(list)
    for tier_class in classes:
        most = len(tier_class.gangs)
        if tier_class.group >= len(scarce):
            gang_class = plenty[tier_class.group - len(scarce)].gang_classes[tier_class.gang_class]
            most *= bool(state.open_places(gang_class.kind, gang_class.candidates))
        tier_class.variable = program.variable(most)
        totals[tier_class.group, tier_class.gang_class].append((-1, tier_class.variable))
        gang = tier_class.gangs[0]
        if tier_class.value and new_gpus(gang):
            quotas[gang.key.namespace].append((new_gpus(gang), tier_class.variable))
    for (group, number), total in totals.items():
        if group < len(scarce):
            program.equal([*model.groups[group].placed(number), *total], 0)
    add_quotas(program, state, quotas)
    sizes = {request.gpus for group in scarce for request in group.kind.requests}
    tiers = LexicographicSearch(program, classes, state.spec.solver.seed, uniform=len(sizes) <= 1)
    values = tiers.solve(deadline)
    if values is None:
        return None
    return _Attempt(model, classes, values, tuple(tiers.stages))


def _classes(state: CycleState, groups: list[GangGroup]) -> list[TierClass]:
    limited = set(quota_left(state.snapshot))
    found: dict[tuple[int, int, int, int, str], TierClass] = {}
    for number, group in enumerate(groups):
        for index, gang_class in enumerate(group.gang_classes):
            for gang in gang_class.gangs:
                step = age_step(state.spec, state.snapshot.now, gang.created)
                namespace = gang.key.namespace if gang.key.namespace in limited else ""
                key = (number, index, gang.priority, step, namespace)
                if key not in found:
                    # What no fabric of this size holds may ask for any number, 10^18 included.
                    possible = gang_class.candidates.required or gang_class.candidates.loose_spines
                    value = placed_value(gang, step) if possible else 0
                    found[key] = TierClass(number, index, gang.priority, value, [])
                found[key].gangs.append(gang)
    return list(found.values())


def _placed(classes: list[TierClass]) -> dict[tuple[int, int], list[Gang]]:
    placed: dict[tuple[int, int], list[Gang]] = defaultdict(list)
    for tier_class in classes:
        placed[tier_class.group, tier_class.gang_class] += tier_class.gangs[: tier_class.count]
    return {key: sorted(gangs, key=gang_order) for key, gangs in placed.items()}
