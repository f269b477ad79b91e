"""First who: tier by tier, the greatest value placed.

A gang's tier and age decide whether it is placed, never where. So the location integers
stand per unit, and one integer per class (unit, tier, age step, quota) counts how many of
it are placed. Each tier is solved in turn and fixes its counts: strictly lexicographic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from model.gang import Gang
from model.plan import Stage
from model.weights import age_step, placed_value
from solver import cpsat
from solver.clock import Clock
from solver.decode import Decoded, decode
from solver.laws.quota import add_quotas, new_gpus, quota_left
from solver.laws.uplinks import add_uplinks
from solver.layout import Layout
from solver.program import Answer, Program, Terms, costs_of
from solver.scorer import Scorer
from solver.units import Unit, gang_order
from solver.view import View


@dataclass(frozen=True, slots=True)
class Chosen:
    """The gangs that are placed, a placement that proves they fit, and what is proven."""

    gangs: list[Gang]
    decoded: Decoded
    stages: tuple[Stage, ...]
    refined: frozenset[int]


@dataclass(slots=True)
class _Class:
    """Gangs of one party, tier, age step and quota, oldest first; `count` are placed."""

    unit: int
    party: int
    priority: int
    value: int
    gangs: list[Gang]
    count: int = 0
    variable: int = -1


def choose(
    view: View,
    units: list[Unit],
    scorer: Scorer,
    clock: Clock,
    on_stage: Callable[[Stage], None],
) -> Chosen | None:
    """The gangs to place, or `None` where the solver found nothing in time."""
    refined: frozenset[int] = frozenset()
    while True:
        result = _attempt(view, units, scorer, clock, refined)
        if result is None:
            return None
        layout, classes, values, stages = result
        decoded = decode(layout, values, _placed(classes))
        if not decoded.misfits:
            for stage in stages:
                on_stage(stage)
            gangs = sorted((g for c in classes for g in c.gangs[: c.count]), key=gang_order)
            return Chosen(gangs, decoded, stages, refined)
        refined |= decoded.misfits


def _attempt(
    view: View, units: list[Unit], scorer: Scorer, clock: Clock, refined: frozenset[int]
) -> tuple[Layout, list[_Class], list[int], tuple[Stage, ...]] | None:
    program = Program()
    layout = Layout(program, view, units, refined)
    add_uplinks(layout, scorer)
    classes = _classes(view, units)
    totals: dict[tuple[int, int], Terms] = defaultdict(list)
    quotas: dict[str, Terms] = defaultdict(list)
    for group in classes:
        group.variable = program.variable(len(group.gangs))
        totals[group.unit, group.party].append((-1, group.variable))
        gang = group.gangs[0]
        if new_gpus(gang):
            quotas[gang.key.namespace].append((new_gpus(gang), group.variable))
    for (unit, party), total in totals.items():
        program.equal([*layout.units[unit].placed(party), *total], 0)
    add_quotas(program, view, quotas)
    stages = []
    values: list[int] | None = None
    for priority in sorted({group.priority for group in classes}, reverse=True):
        tier = [group for group in classes if group.priority == priority]
        watch = clock.watch()
        objective = costs_of(program, [(group.value, group.variable) for group in tier])
        answer = cpsat.maximize(program, objective, clock.left(), view.spec.solver.seed)
        values = answer.values if answer.values is not None else values
        if values is None:
            return None
        for group in tier:
            group.count = values[group.variable]
            program.fix(group.variable, group.count)
        stages.append(_stage(priority, tier, answer, watch()))
    return layout, classes, values or [0] * program.size, tuple(stages)


def _stage(priority: int, tier: list[_Class], answer: Answer, seconds: float) -> Stage:
    placed = sum(group.value * group.count for group in tier)
    bound = answer.bound if answer.values else sum(c.value * len(c.gangs) for c in tier)
    return Stage(f"who {priority}", answer.proven, placed, bound, seconds)


def _classes(view: View, units: list[Unit]) -> list[_Class]:
    limited = set(quota_left(view))
    found: dict[tuple[int, int, int, int, str], _Class] = {}
    for number, unit in enumerate(units):
        for index, party in enumerate(unit.parties):
            for gang in party.gangs:
                step = age_step(view.spec, view.snapshot.now, gang.created)
                namespace = gang.key.namespace if gang.key.namespace in limited else ""
                key = (number, index, gang.priority, step, namespace)
                if key not in found:
                    value = placed_value(gang, step)
                    found[key] = _Class(number, index, gang.priority, value, [])
                found[key].gangs.append(gang)
    return list(found.values())


def _placed(classes: list[_Class]) -> dict[tuple[int, int], list[Gang]]:
    placed: dict[tuple[int, int], list[Gang]] = defaultdict(list)
    for group in classes:
        placed[group.unit, group.party] += group.gangs[: group.count]
    return {key: sorted(gangs, key=gang_order) for key, gangs in placed.items()}
