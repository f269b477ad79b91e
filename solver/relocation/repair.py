"""Repair: who lives on, then the fewest moves, then the best places.

Runs in the worker process, which alone loads OR-tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fourleaf.model.extensions import NO_EXTENSIONS, Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.job_mix import LikelyGang, likely_gangs
from fourleaf.model.plan import Placement, PlanStatus, Stage, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.running_gang import RepairPolicy, StandingGang, forbidden_by
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.solve import no_observer
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroups, gang_groups_for
from fourleaf.solver.relocation.eviction_rows import LimitIndex
from fourleaf.solver.relocation.participants import Mover, MoveScope, Participants, mover, without
from fourleaf.solver.relocation.place import MovingGang, SettledGangs, moves_of, moving_gangs, place
from fourleaf.solver.relocation.stages import WHO_THEN_MOVES, StageOutcome, reach

WHOLE_REPAIR_SHARE = 0.9
"""Of the time limit, what may go into a repair in which all movable gangs take part."""

LIMITS_SHARE = 0.5
"""Of the time that is left, what it may take to learn which gangs limits of evictions keep back."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The standing gangs by what may be done for them."""

    movers: tuple[Mover, ...]
    applicants: tuple[Gang, ...]
    waits: tuple[GangKey, ...]
    restarts: tuple[StandingGang, ...]


def repair(
    snapshot: Snapshot,
    extensions: Extensions = NO_EXTENSIONS,
    on_stage: Callable[[Stage], None] = no_observer,
) -> RepairPlan | None:
    """How the gangs of `snapshot.standing` that lost members live on.

    `None` where nothing was found within the time limit. Gangs that cannot live do not carry
    their reasons yet. Waiting gangs take no part.
    """
    deadline = Deadline(snapshot.config.spec.solver.time_limit_seconds)
    timer = deadline.timer()
    factory = gang_groups_for(snapshot, extensions)
    likely = likely_gangs(snapshot)
    parts = _parts(snapshot, factory)
    snapshot = replace(snapshot, running=without(snapshot, parts.restarts), gangs=())

    participants = _cast(snapshot, factory, parts, likely)
    reached = reach(
        participants, WHO_THEN_MOVES, Deadline(WHOLE_REPAIR_SHARE * deadline.left()), on_stage
    )
    if reached is None:
        hit = replace(parts, movers=tuple(one for one in parts.movers if one.hit))
        reached = _modest(_cast(snapshot, factory, hit, likely), deadline, on_stage)
    if reached is None:
        return None
    tasks = moving_gangs(reached)
    kept = _kept_by_limits(reached, {task.gang.key for task in tasks}, deadline)
    settled = place(snapshot, reached, tasks, (), deadline, on_stage)

    stages = (*reached.stages, settled.stage)
    proven = all(stage.proven for stage in stages)
    moves = moves_of(tasks, settled)
    prices = {pod: one.move_cost for one in snapshot.standing for pod in one.live}
    return RepairPlan(
        PlanStatus.OPTIMAL if proven else PlanStatus.FEASIBLE,
        placements=_placements(tasks, settled),
        moves=moves,
        lost=_lost(parts, {task.gang.key for task in tasks}, kept),
        waits=parts.waits,
        restarts=tuple(one.gang.key for one in parts.restarts),
        stages=stages,
        cost=sum(prices[move.namespace, move.pod] for move in moves),
        objective=settled.stage.objective,
        bound=settled.stage.bound,
        seconds=timer(),
    )


def _cast(
    snapshot: Snapshot, factory: GangGroups, parts: _Parts, likely: tuple[LikelyGang, ...]
) -> Participants:
    running = without(snapshot, [one.standing for one in parts.movers])
    state = CycleState(replace(snapshot, running=running), factory.fabric, likely)
    limits = LimitIndex(snapshot.eviction_limits).left_by(parts.restarts)
    return Participants(state, factory, parts.movers, parts.applicants, limits=limits)


def _modest(
    participants: Participants, deadline: Deadline, on_stage: Callable[[Stage], None]
) -> StageOutcome | None:
    """What can be reached without moving gangs that were not hit, which proves nothing."""
    reached = reach(participants, WHO_THEN_MOVES, deadline, no_observer)
    if reached is None:
        return None
    hit = [one.whole for one in participants.movers] + list(participants.applicants)
    most = {f"who {tier}": 0 for tier in {gang.priority for gang in hit}}
    for gang in hit:
        most[f"who {gang.priority}"] += gang.weight
    stages = tuple(
        replace(stage, proven=stage.objective == bound, bound=bound)
        for stage in reached.stages
        for bound in (most.get(stage.name, 0),)
    )
    for stage in stages:
        on_stage(stage)
    return replace(reached, stages=stages)


def _parts(snapshot: Snapshot, factory: GangGroups) -> _Parts:
    movers: list[Mover] = []
    applicants: list[Gang] = []
    waits: list[GangKey] = []
    restarts: list[StandingGang] = []
    for one in snapshot.standing:
        lives = any(role.bound for role in one.gang.roles)
        if not one.hit:
            if one.movable:
                movers.append(mover(one, factory.fabric, MoveScope.ANYWHERE, hit=False))
        elif one.policy is RepairPolicy.WAIT:
            waits.append(one.gang.key)
        elif one.policy is RepairPolicy.RESTART:
            restarts.append(one)
        elif one.policy is RepairPolicy.PATCH or not lives:
            applicants.append(one.gang)
        else:
            where = MoveScope.SPINES if one.policy is RepairPolicy.SHIFT else MoveScope.ANYWHERE
            movers.append(mover(one, factory.fabric, where, hit=True))
    return _Parts(tuple(movers), tuple(applicants), tuple(waits), tuple(restarts))


def _placements(tasks: list[MovingGang], settled: SettledGangs) -> tuple[Placement, ...]:
    """A node for each lost member of the gangs that live."""
    out = []
    for task in tasks:
        key = task.gang.key
        pods = tuple((pod, node) for pod, node in settled.seats[key] if pod not in task.sources)
        if pods:
            out.append(Placement(key, pods))
    return tuple(out)


def _lost(
    parts: _Parts, placed: set[GangKey], kept: Mapping[GangKey, Reason]
) -> tuple[Waiting, ...]:
    hit = [one.key for one in parts.movers if one.hit] + [gang.key for gang in parts.applicants]
    unknown = Reason(ReasonKind.NOT_PROVEN)
    return tuple(Waiting(key, kept.get(key, unknown)) for key in hit if key not in placed)


def _kept_by_limits(
    reached: StageOutcome, placed: set[GangKey], deadline: Deadline
) -> dict[GangKey, Reason]:
    """The gangs that would live if any pod could be evicted, and what keeps them from it."""
    participants = reached.relocation.participants
    hit = {one.key: one.standing.gang for one in participants.movers if one.hit}
    hit |= {gang.key: gang for gang in participants.applicants}
    lost = hit.keys() - placed
    if not lost or not participants.limits:
        return {}
    share = Deadline(LIMITS_SHARE * deadline.left())
    free = reach(replace(participants, limits=()), WHO_THEN_MOVES, share, no_observer)
    if free is None:
        return {}
    lives = {task.gang.key for task in moving_gangs(free)}
    index = LimitIndex(participants.limits)
    return {key: _forbidden(hit[key], index) for key in sorted(lost & lives)}


def _forbidden(gang: Gang, index: LimitIndex) -> Reason:
    """The limits of its own pods; those of others, which may be in its way too, are not named."""
    counted = index.counted(gang)
    must_go = any(lost > index.limits[number].most for number, _, lost in counted)
    return forbidden_by([index.limits[number] for number, *_ in counted], must_go)
