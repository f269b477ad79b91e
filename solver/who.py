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
from solver.clock import Clock
from solver.cpsat import CpSat
from solver.decode import PlacedGang, decode, misfits
from solver.laws.quota import add_quotas, new_gpus, quota_left
from solver.laws.uplinks import add_uplinks
from solver.layout import Layout
from solver.program import Answer, Program, Terms, costs_of
from solver.scorer import Scorer
from solver.units import Unit, gang_order
from solver.view import View

MANY_TIERS = 6
"""From here on tiers are tried in groups: a solve settles all that can all be placed."""


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

    @property
    def most(self) -> int:
        """What placing all of them is worth."""
        return self.value * len(self.gangs)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One run over all tiers: its variables, their values, and what is proven."""

    layout: Layout
    classes: list[_Class]
    values: list[int]
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The gangs to place; `refined` are the leaves whose nodes had to be modelled singly."""

    gangs: list[Gang]
    attempt: _Attempt
    refined: frozenset[int]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What is known of each tier."""
        return self.attempt.stages

    def anywhere(self) -> list[PlacedGang]:
        """A placement of the gangs that obeys every law, whatever it is worth."""
        return decode(self.attempt.layout, self.attempt.values, _placed(self.attempt.classes)).gangs


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
        attempt = _attempt(view, units, scorer, clock, refined)
        if attempt is None:
            return None
        failed = misfits(attempt.layout, attempt.values)
        if not failed:
            for stage in attempt.stages:
                on_stage(stage)
            gangs = [g for c in attempt.classes for g in c.gangs[: c.count]]
            return Chosen(sorted(gangs, key=gang_order), attempt, refined)
        refined |= failed


def _attempt(
    view: View, units: list[Unit], scorer: Scorer, clock: Clock, refined: frozenset[int]
) -> _Attempt | None:
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
    solver = CpSat(program, view.spec.solver.seed)
    tiers = _tiers(classes)
    stages: list[Stage] = []
    values: list[int] | None = None
    many = len(tiers) > MANY_TIERS
    span = len(tiers) if many else 1
    while tiers:
        together = tiers[:span]
        members = [c for tier in together for c in tier]
        watch = clock.watch()
        objective = costs_of(program, [(c.value, c.variable) for c in members])
        answer = solver.maximize(objective, clock.left())
        settled = answer.proven and answer.objective in (0, sum(c.most for c in members))
        if span > 1 and not settled and clock.left():
            span = (span + 1) // 2
            continue
        values = answer.values if answer.values is not None else values
        if values is None:
            return None
        seconds = watch() / len(together)
        for tier in together:
            for c in tier:
                c.count = values[c.variable]
                solver.fix(c.variable, c.count)
            stages.append(_stage(tier, answer, seconds))
        tiers = tiers[span:]
        if many and settled:
            span = 2 * span
    return _Attempt(layout, classes, values or [0] * program.size, tuple(stages))


def _tiers(classes: list[_Class]) -> list[list[_Class]]:
    """The classes by priority, highest first."""
    tiers: dict[int, list[_Class]] = defaultdict(list)
    for group in classes:
        tiers[group.priority].append(group)
    return [tiers[priority] for priority in sorted(tiers, reverse=True)]


def _stage(tier: list[_Class], answer: Answer, seconds: float) -> Stage:
    """What is known of one tier. Settled tiers share a solve: all of them placed, or none."""
    placed = sum(c.value * c.count for c in tier)
    alone = answer.values is not None and answer.objective == placed
    bound = answer.bound if alone else sum(c.most for c in tier)
    proven = answer.proven
    return Stage(f"who {tier[0].priority}", proven, placed, placed if proven else bound, seconds)


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
