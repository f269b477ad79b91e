"""First who: tier by tier, the greatest value placed.

A gang's tier and age decide whether it is placed, never where. So the location integers
stand per unit, and one integer per class (unit, tier, age step, quota) counts how many of
it are placed. Each tier is solved in turn and fixes its counts: strictly lexicographic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.plan import Stage
from fourleaf.model.weights import age_step, placed_value
from fourleaf.solver.batch.first_fit import FirstFit, demand, plain
from fourleaf.solver.cpsat.builder import Model
from fourleaf.solver.cpsat.constraints.quota import add_quotas, new_gpus, quota_left
from fourleaf.solver.cpsat.constraints.uplinks import add_uplinks
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.decode import PlacedGang, decode
from fourleaf.solver.cpsat.lexicographic import LexicographicSearch, TierClass
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup, gang_order
from fourleaf.solver.objective.scorer import Scorer


@dataclass(frozen=True, slots=True)
class Chosen:
    """The gangs to place; `refined` are the leaves whose nodes had to be modelled singly.

    `anywhere` is a placement of them that obeys every law, whatever it is worth. Its units tell
    apart where gangs may go, not what a place is worth to them.
    """

    gangs: list[Gang]
    anywhere: list[PlacedGang]
    stages: tuple[Stage, ...]
    refined: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One run over all tiers: its variables, their values, and what is proven."""

    layout: Model
    classes: list[TierClass]
    values: list[int]
    stages: tuple[Stage, ...]


def select_gangs(
    view: CycleState,
    units: list[GangGroup],
    scorer: Scorer,
    clock: Deadline,
    on_stage: Callable[[Stage], None],
) -> Chosen | None:
    """The gangs to place, or `None` where the solver found nothing in time."""
    refined: frozenset[int] = frozenset()
    scarce = [unit for unit in units if not plain(unit)]
    plenty = sorted([unit for unit in units if plain(unit)], key=demand, reverse=True)
    while True:
        attempt = _attempt(view, scarce, plenty, scorer, clock, refined)
        if attempt is None:
            return None
        decoded = decode(attempt.layout, attempt.values, _placed(attempt.classes))
        if decoded.misfits:
            refined |= decoded.misfits
            continue
        seated = _seat(view, attempt.classes, len(scarce), plenty, decoded.gangs)
        if seated is not None:
            for stage in attempt.stages:
                on_stage(stage)
            gangs = [g for c in attempt.classes for g in c.gangs[: c.count]]
            return Chosen(sorted(gangs, key=gang_order), seated, attempt.stages, refined)
        scarce, plenty = [*scarce, *plenty], []


def _seat(
    view: CycleState,
    classes: list[TierClass],
    scarce: int,
    plenty: list[GangGroup],
    placed: list[PlacedGang],
) -> list[PlacedGang] | None:
    """All gangs on nodes; `None` where some in plenty find no room beside those `placed`."""
    counted = _placed(classes)
    left = FirstFit(view, placed)
    everyone = list(placed)
    for position, unit in enumerate(plenty):
        number = scarce + position
        gangs = {i: counted.get((number, i), []) for i in range(len(unit.parties))}
        seated = left.seat(unit, gangs)
        if seated is None:
            return None
        everyone += seated
    return everyone


def _attempt(
    view: CycleState,
    scarce: list[GangGroup],
    plenty: list[GangGroup],
    scorer: Scorer,
    clock: Deadline,
    refined: frozenset[int],
) -> _Attempt | None:
    """Count all gangs, those of the units in plenty as if they did not need room."""
    program = Program()
    layout = Model(program, view, scarce, refined)
    add_uplinks(layout, scorer)
    classes = _classes(view, [*scarce, *plenty])
    totals: dict[tuple[int, int], Terms] = defaultdict(list)
    quotas: dict[str, Terms] = defaultdict(list)
    for group in classes:
        most = len(group.gangs)
        if group.unit >= len(scarce):
            party = plenty[group.unit - len(scarce)].parties[group.party]
            most *= bool(view.open_places(party.kind, party.locations))
        group.variable = program.variable(most)
        totals[group.unit, group.party].append((-1, group.variable))
        gang = group.gangs[0]
        if new_gpus(gang):
            quotas[gang.key.namespace].append((new_gpus(gang), group.variable))
    for (unit, number), total in totals.items():
        if unit < len(scarce):
            program.equal([*layout.units[unit].placed(number), *total], 0)
    add_quotas(program, view, quotas)
    sizes = {request.gpus for unit in scarce for request in unit.kind.requests}
    tiers = LexicographicSearch(program, classes, view.spec.solver.seed, uniform=len(sizes) <= 1)
    values = tiers.solve(clock)
    if values is None:
        return None
    return _Attempt(layout, classes, values, tuple(tiers.stages))


def _classes(view: CycleState, units: list[GangGroup]) -> list[TierClass]:
    limited = set(quota_left(view))
    found: dict[tuple[int, int, int, int, str], TierClass] = {}
    for number, unit in enumerate(units):
        for index, party in enumerate(unit.parties):
            for gang in party.gangs:
                step = age_step(view.spec, view.snapshot.now, gang.created)
                namespace = gang.key.namespace if gang.key.namespace in limited else ""
                key = (number, index, gang.priority, step, namespace)
                if key not in found:
                    value = placed_value(gang, step)
                    found[key] = TierClass(number, index, gang.priority, value, [])
                found[key].gangs.append(gang)
    return list(found.values())


def _placed(classes: list[TierClass]) -> dict[tuple[int, int], list[Gang]]:
    placed: dict[tuple[int, int], list[Gang]] = defaultdict(list)
    for group in classes:
        placed[group.unit, group.party] += group.gangs[: group.count]
    return {key: sorted(gangs, key=gang_order) for key, gangs in placed.items()}
