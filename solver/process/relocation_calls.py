"""What is asked about standing gangs, and the pure Python steps around it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fourleaf.model.extensions import Extensions
from fourleaf.model.free_leaves import free_room
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import defrag_breaches, preemption_breaches, repair_breaches
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.process.guarded_call import GuardedCall
from fourleaf.solver.process.messages import DefragmentationTask, PreemptionTask, RepairTask
from fourleaf.solver.relocation.explain import explain_defrag, explain_preemption, explain_repair
from fourleaf.solver.relocation.participants import waiting_gang, without

PASSIVE = (RepairPolicy.WAIT, RepairPolicy.RESTART)
"""Policies under which no lost member is placed anew."""


def repair_call(snapshot: Snapshot) -> GuardedCall[RepairPlan]:
    """Who lives on; by ourselves only what needs no move."""
    return GuardedCall(
        RepairTask(),
        snapshot,
        RepairPlan,
        own=lambda extensions, until: _legal_patches(snapshot, extensions, until),
        nothing=lambda: _repaired(snapshot, ()),
        breaches=lambda plan, extensions: repair_breaches(snapshot, plan, extensions),
        worse=lambda plan, rival: _lives_less(snapshot, plan, rival),
        explain=lambda plan, extensions, _: explain_repair(snapshot, plan, extensions),
    )


def preemption_call(snapshot: Snapshot, gang: GangKey) -> GuardedCall[PreemptionPlan]:
    """Victims for `gang`; without the process none. Raises `KeyError` for no waiting gang."""
    waiting_gang(snapshot, gang)

    def no_victims() -> PreemptionPlan:
        return PreemptionPlan(PlanStatus.GREEDY, gang, reason=Reason(ReasonKind.NOT_PROVEN))

    return GuardedCall(
        PreemptionTask(gang),
        snapshot,
        PreemptionPlan,
        own=lambda _, __: no_victims(),
        nothing=no_victims,
        breaches=lambda plan, extensions: preemption_breaches(snapshot, plan, extensions),
        worse=lambda _, __: False,
        explain=lambda plan, extensions, _: explain_preemption(snapshot, plan, extensions),
    )


def defragmentation_call(snapshot: Snapshot, budget: Budget) -> GuardedCall[DefragPlan]:
    """What to move; by ourselves nothing."""
    return GuardedCall(
        DefragmentationTask(budget),
        snapshot,
        DefragPlan,
        own=lambda _, __: _unmoved(snapshot),
        nothing=lambda: _unmoved(snapshot),
        breaches=lambda plan, extensions: defrag_breaches(snapshot, plan, budget, extensions),
        worse=lambda _, __: False,
        explain=lambda plan, extensions, _: explain_defrag(snapshot, plan, extensions),
    )


def _unmoved(snapshot: Snapshot) -> DefragPlan:
    waiting = tuple(Waiting(g.key, Reason(ReasonKind.NOT_PROVEN)) for g in snapshot.gangs)
    room = free_room(snapshot)
    return DefragPlan(PlanStatus.GREEDY, waiting=waiting, before=room, after=room)


def _active(snapshot: Snapshot) -> list[StandingGang]:
    return [one for one in snapshot.standing if one.hit and one.policy not in PASSIVE]


def _repaired(snapshot: Snapshot, placements: tuple[Placement, ...]) -> RepairPlan:
    """The plan of these placements and no move."""
    done = {placement.gang for placement in placements}
    hit = [one for one in snapshot.standing if one.hit]
    return RepairPlan(
        PlanStatus.GREEDY,
        placements,
        lost=tuple(
            Waiting(one.gang.key, Reason(ReasonKind.NOT_PROVEN))
            for one in _active(snapshot)
            if one.gang.key not in done
        ),
        waits=tuple(one.gang.key for one in hit if one.policy is RepairPolicy.WAIT),
        restarts=tuple(one.gang.key for one in hit if one.policy is RepairPolicy.RESTART),
    )


def _legal_patches(snapshot: Snapshot, extensions: Extensions, until: float) -> RepairPlan:
    """Lost members placed greedily, no other moved; nothing where that turns out illegal."""
    gone = [one for one in snapshot.standing if one.hit and one.policy is RepairPolicy.RESTART]
    world = replace(
        snapshot,
        running=without(snapshot, gone),
        gangs=tuple(one.gang for one in _active(snapshot)),
        standing=(),
    )
    found = greedy_plan(world, extensions, until).placements
    plan = _repaired(snapshot, tuple(Placement(one.gang, one.pods) for one in found))
    if repair_breaches(snapshot, plan, extensions):
        return _repaired(snapshot, ())
    return plan


def _lives_less(snapshot: Snapshot, plan: RepairPlan, rival: RepairPlan) -> bool:
    """Whether less lives in the highest priority in which the two plans differ."""
    worth = {one.gang.key: one.gang for one in snapshot.standing}
    sums: list[Counter[int]] = []
    for one in (plan, rival):
        total: Counter[int] = Counter()
        for placement in one.placements:
            gang = worth[placement.gang]
            total[gang.priority] += gang.weight
        sums.append(total)
    mine, theirs = sums
    for priority in sorted({*mine, *theirs}, reverse=True):
        if mine[priority] != theirs[priority]:
            return mine[priority] < theirs[priority]
    return False
