"""Defragmentation: moves within a budget, for gangs that wait or for likely ones.

Where gangs wait, as many of them start as can, tier by tier; else the rooms kept for likely
gangs are worth the most. Then the fewest moves, then the best places. Runs in the worker
process, which alone loads OR-tools.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.extensions import NO_EXTENSIONS, Extensions
from fourleaf.model.free_leaves import free_room
from fourleaf.model.gang import Gang
from fourleaf.model.job_mix import likely_gangs
from fourleaf.model.plan import PlanStatus, Stage, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import Budget, DefragPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.batch.solve import no_observer
from fourleaf.solver.cpsat.constraints.quota import new_gpus, quota_left
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.program import Terms
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.instance.phantoms import phantom_units
from fourleaf.solver.relocation.formulation import Formulation
from fourleaf.solver.relocation.participants import MoveScope, Participants, mover, without
from fourleaf.solver.relocation.place import moves_of, moving_gangs, place
from fourleaf.solver.relocation.stages import WHO_THEN_MOVES, Goal, StagePlan, reach

FOR_ROOM = StagePlan(
    "who",
    lambda _: (),
    lambda relocation: [
        Goal("room", relocation.room()),
        Goal("moves", *relocation.moved(price=True)),
    ],
)


def defragment(
    snapshot: Snapshot,
    budget: Budget,
    extensions: Extensions = NO_EXTENSIONS,
    on_stage: Callable[[Stage], None] = no_observer,
) -> DefragPlan | None:
    """The moves that win most within `budget`; `None` where the time ran out.

    Only movable gangs that are whole move. Gangs that wait do not carry their reasons
    yet.
    """
    deadline = Deadline(snapshot.config.spec.solver.time_limit_seconds)
    timer = deadline.timer()
    factory = gang_groups_for(snapshot, extensions)
    batch = select_batch(snapshot).batch
    movers = tuple(
        mover(one, factory.fabric, MoveScope.ANYWHERE, hit=False)
        for one in snapshot.standing
        if one.movable and not one.hit
    )
    running = without(snapshot, [one.standing for one in movers])
    state = CycleState(replace(snapshot, running=running), factory.fabric, likely_gangs(snapshot))
    rooms = () if batch else tuple(phantom_units(state, factory))
    limits = snapshot.eviction_limits
    value = _value(snapshot)
    participants = Participants(state, factory, movers, batch, value, phantoms=rooms, limits=limits)
    turn = WHO_THEN_MOVES if batch else FOR_ROOM
    reached = reach(participants, turn, deadline, on_stage, _rows(snapshot, budget))
    if reached is None:
        return None
    tasks = moving_gangs(reached)
    least = 0 if batch else reached.stages[0].objective
    settled = place(snapshot, reached, tasks, (), deadline, on_stage, least)
    stages = (*reached.stages, settled.stage)
    proven = all(stage.proven for stage in stages)
    moves = moves_of(tasks, settled)
    waiting = {gang.key for gang in snapshot.gangs}
    placements = tuple(one for key, one in settled.placements.items() if key in waiting)
    done = {one.gang for one in placements}
    prices = {pod: one.move_cost for one in snapshot.standing for pod in one.live}
    return DefragPlan(
        PlanStatus.OPTIMAL if proven else PlanStatus.FEASIBLE,
        moves=moves,
        placements=placements,
        waiting=tuple(
            Waiting(gang.key, Reason(ReasonKind.NOT_PROVEN))
            for gang in snapshot.gangs
            if gang.key not in done
        ),
        before=free_room(snapshot),
        after=free_room(snapshot.moved(moves)),
        stages=stages,
        cost=sum(prices[move.namespace, move.pod] for move in moves),
        objective=settled.stage.objective,
        bound=settled.stage.bound,
        seconds=timer(),
    )


def _value(snapshot: Snapshot) -> Callable[[Gang], int]:
    spec, now = snapshot.config.spec, snapshot.now
    return lambda gang: placed_value(gang, age_step(spec, now, gang.created))


def _rows(snapshot: Snapshot, budget: Budget) -> Callable[[Formulation], None]:
    """The budget, and the quotas of the namespaces whose gangs wait."""
    quotas = quota_left(snapshot)

    def add(relocation: Formulation) -> None:
        for most, price in ((budget.pods, False), (budget.cost, True)):
            if most is not None:
                saved, total = relocation.moved(price)
                relocation.program.at_most([(-c, v) for c, v in saved], most - total)
        placed: dict[str, Terms] = {}
        for group in relocation.classes:
            gang = group.gangs[0]
            if new_gpus(gang):
                terms = placed.setdefault(gang.key.namespace, [])
                terms.append((new_gpus(gang), group.variable))
        for namespace, terms in placed.items():
            if namespace in quotas:
                relocation.program.at_most(terms, max(0, quotas[namespace]))

    return add
