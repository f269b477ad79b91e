"""The batch solve: first who, then where.

Runs in the worker process, which alone loads OR-tools.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fourleaf.model.extensions import NO_EXTENSIONS, Extensions
from fourleaf.model.plan import Plan, PlanStatus, Stage
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.place_gangs import ceiling, place_gangs
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.batch.select_gangs import select_gangs
from fourleaf.solver.batch.to_plan import to_plan
from fourleaf.solver.cpsat.constraints.quota import new_gpus
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.instance.phantoms import phantom_units
from fourleaf.solver.objective.scorer import Scorer

ROLES_TO_MODEL = 16
"""A gang of more roles is modelled only where it may have room."""


def no_observer(_: Stage) -> None:
    """What hears of stages where no caller wants to."""


def solve(
    snapshot: Snapshot,
    extensions: Extensions = NO_EXTENSIONS,
    on_stage: Callable[[Stage], None] = no_observer,
) -> Plan | None:
    """The best plan for one snapshot; `None` where nothing was found within the time limit.

    Gangs that wait do not carry their reasons yet (`solver.explain`). `on_stage` hears of each
    stage as it ends.
    """
    deadline = Deadline(snapshot.config.spec.solver.time_limit_seconds)
    timer = deadline.timer()
    factory = gang_groups_for(snapshot, extensions)
    state = CycleState(snapshot, factory.fabric)
    scorer = Scorer(state)
    selection = select_batch(snapshot)
    # A gang of a thousand roles that asks for more than is free in all is not modelled.
    hopeful = [
        gang
        for gang in selection.batch
        if len(gang.roles) <= ROLES_TO_MODEL or new_gpus(gang) <= state.free_gpus
    ]

    chosen = select_gangs(state, factory.for_who(hopeful), scorer, deadline, on_stage)
    if chosen is None:
        return None
    groups = factory.for_where(chosen.gangs, snapshot.replicas)
    located = place_gangs(
        state, groups, phantom_units(state, factory), scorer, deadline, chosen.refined
    )

    if located is None:
        placed = [replace(one, group=factory.of(one.gang)) for one in chosen.anywhere]
        plan = to_plan(state, scorer, selection, placed, (), chosen.stages, PlanStatus.FEASIBLE)
        stage = Stage("where", False, plan.objective, ceiling(state, chosen.gangs), 0.0)
        on_stage(stage)
        return replace(
            plan,
            stages=(*chosen.stages, stage),
            bound=stage.bound,
            note="no time was left to choose the best places",
        )
    on_stage(located.stage)
    stages = (*chosen.stages, located.stage)
    status = PlanStatus.OPTIMAL if all(stage.proven for stage in stages) else PlanStatus.FEASIBLE
    plan = to_plan(
        state, scorer, selection, located.decoded.gangs, located.phantoms, stages, status
    )
    solving = sum(stage.seconds for stage in stages)
    return replace(plan, seconds_solve=solving, seconds_build=max(0.0, timer() - solving))
