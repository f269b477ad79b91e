"""Preemption: which victims to evict so that one gang may start.

Fewest victims of the highest priority, then of the next, and so on; then the lowest price;
then the best place for the gang. No limit of evictions is exceeded. Runs in the worker process,
which alone loads OR-tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fourleaf.model.extensions import NO_EXTENSIONS, Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.job_mix import likely_gangs
from fourleaf.model.plan import PlanStatus, Stage
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import PreemptionPlan, Victim
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.solve import no_observer
from fourleaf.solver.cpsat.constraints.quota import new_gpus, quota_left
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.lexicographic import TierClass
from fourleaf.solver.cpsat.program import UNBOUNDED
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.relocation.formulation import Formulation
from fourleaf.solver.relocation.participants import (
    Mover,
    MoveScope,
    Participants,
    mover,
    possible_victims,
    waiting_gang,
    without,
)
from fourleaf.solver.relocation.place import moving_gangs, place
from fourleaf.solver.relocation.stages import Goal, StageOutcome, StagePlan, reach

VICTIMS_SHARE = 0.9
"""Of the time limit, what the search for victims may take."""


def preempt(
    snapshot: Snapshot,
    key: GangKey,
    extensions: Extensions = NO_EXTENSIONS,
    on_stage: Callable[[Stage], None] = no_observer,
) -> PreemptionPlan | None:
    """The least that has to go for the waiting gang `key`; `None` where the time ran out.

    A plan without placement does not carry its reason yet. Raises `KeyError` where no gang
    `key` waits.
    """
    deadline = Deadline(snapshot.config.spec.solver.time_limit_seconds)
    timer = deadline.timer()
    gang = waiting_gang(snapshot, key)
    if gang.hold is not None:
        return PreemptionPlan(PlanStatus.OPTIMAL, key, reason=Reason(ReasonKind(gang.hold.kind)))
    factory = gang_groups_for(snapshot, extensions)
    victims = [
        mover(one, factory.fabric, MoveScope.NOWHERE, hit=False)
        for one in possible_victims(snapshot, gang)
    ]
    only = replace(snapshot, gangs=(gang,))
    emptied = replace(only, running=without(snapshot, [one.standing for one in victims]))
    state = CycleState(emptied, factory.fabric, likely_gangs(snapshot))
    participants = Participants(
        state,
        factory,
        tuple(victims),
        (gang,),
        must=True,
        droppable=True,
        limits=snapshot.eviction_limits,
    )
    turn = StagePlan("victims", _kept, _price)
    rows = _quota_row(emptied, gang)
    reached = reach(participants, turn, Deadline(VICTIMS_SHARE * deadline.left()), on_stage, rows)
    if reached is None:
        return replace(_nothing(key, participants, turn, deadline, rows), seconds=timer())
    stays = reached.relocation.stays(reached.values)
    gone = [one for one in victims if one not in stays]
    tasks = moving_gangs(reached)
    names = [(one.key.namespace, pod) for one in gone for pod, _ in _pods(one.standing)]
    settled = place(only, reached, tasks, names, deadline, on_stage)
    stages = (*_counted(reached.stages, victims), settled.stage)
    proven = all(stage.proven for stage in stages)
    return PreemptionPlan(
        PlanStatus.OPTIMAL if proven else PlanStatus.FEASIBLE,
        key,
        placement=settled.placements[key],
        victims=tuple(
            Victim(one.key, one.whole.priority, _pods(one.standing), one.price) for one in gone
        ),
        stages=stages,
        seconds=timer(),
    )


def _nothing(
    key: GangKey,
    participants: Participants,
    turn: StagePlan,
    deadline: Deadline,
    rows: Callable[[Formulation], None],
) -> PreemptionPlan:
    """The plan without victims; its reason is known only where limits of evictions are it."""
    alone = replace(participants, movers=(), limits=())
    fits = reach(alone, turn, deadline, no_observer, rows) is not None
    if fits and participants.limits:
        over = reach(replace(participants, elastic=True), EXCESS, deadline, no_observer, rows)
        if over is not None and all(one.proven and one.objective for one in over.stages):
            return PreemptionPlan(PlanStatus.OPTIMAL, key, reason=_forbidden(over))
    unknown = fits or deadline.left() == 0.0
    status = PlanStatus.FEASIBLE if unknown else PlanStatus.OPTIMAL
    return PreemptionPlan(status, key, reason=Reason(ReasonKind.NOT_PROVEN))


def _forbidden(over: StageOutcome) -> Reason:
    """The limits that have to be exceeded, by as little as can be."""
    excess = [
        (limit, over.values[variable])
        for limit, variable in over.relocation.evictions.excess
        if over.values[variable]
    ]
    detail = "; ".join(f"{limit}, {limit.most + more} would have to" for limit, more in excess)
    counts = (("limits", len(excess)), ("excess", sum(more for _, more in excess)))
    return Reason(ReasonKind.EVICTIONS_FORBIDDEN, detail, counts)


def _excess(relocation: Formulation) -> list[Goal]:
    return [Goal("excess", [(-1, variable) for _, variable in relocation.evictions.excess], 0)]


EXCESS = StagePlan("victims", lambda _: (), _excess)
"""By how little all limits of evictions together have to be exceeded."""


def _counted(stages: Sequence[Stage], victims: Sequence[Mover]) -> list[Stage]:
    """The stages in victims rather than in gangs that are spared."""
    out = list(stages)
    tiers = sorted({one.whole.priority for one in victims}, reverse=True)
    for number, priority in enumerate(tiers):
        stage = stages[number]
        all_ = sum(one.whole.priority == priority for one in victims)
        objective, bound = all_ - stage.objective, all_ - stage.bound
        out[number] = replace(stage, objective=objective, bound=bound)
    return out


def _pods(standing: StandingGang) -> tuple[tuple[str, str], ...]:
    return tuple(pair for role in standing.gang.roles for pair in role.bound)


def _kept(relocation: Formulation) -> Sequence[TierClass]:
    """One for each gang that is spared, in the tier of its priority."""
    return [
        TierClass(
            -1, 0, movers[0].whole.priority, 1, [one.whole for one in movers], variable=spared
        )
        for movers, spared in relocation.stay_counts()
    ]


def _price(relocation: Formulation) -> list[Goal]:
    return [Goal("cost", *relocation.moved(price=True))]


def _quota_row(emptied: Snapshot, gang: Gang) -> Callable[[Formulation], None]:
    """Gangs of the same namespace that stay, and the gang itself, keep within the quota."""
    left = quota_left(emptied).get(gang.key.namespace)

    def add(relocation: Formulation) -> None:
        if left is None or not new_gpus(gang):
            return
        terms = [
            (_gpus(movers[0]), spared)
            for movers, spared in relocation.stay_counts()
            if movers[0].key.namespace == gang.key.namespace and _gpus(movers[0])
        ]
        relocation.program.row(terms, UNBOUNDED, left - new_gpus(gang))

    return add


def _gpus(one: Mover) -> int:
    return sum(role.request.gpus * len(role.bound) for role in one.standing.gang.roles)
