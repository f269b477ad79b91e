"""Why standing gangs cannot live on, and why gangs do not start although others may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot, once_placed
from fourleaf.solver.explain.blockers import of_one_that_runs
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.relocation.participants import possible_victims, waiting_gang, whole, without


def explain_repair(snapshot: Snapshot, plan: RepairPlan, extensions: Extensions) -> RepairPlan:
    """Return the plan with the reason of every gang that cannot live.

    Each is asked about as if it had to start on what the plan leaves: with its live members
    bound, or from nothing where its policy lets all of them move.
    """
    if not plan.lost:
        return plan
    standing = {one.gang.key: one for one in snapshot.standing}
    restarts = [one for one in snapshot.standing if one.gang.key in set(plan.restarts)]
    world = replace(
        _after(snapshot, plan, standing), gangs=(), standing=(), config=_without_quotas(snapshot)
    )
    world = replace(world, running=without(world, restarts))
    lost = tuple(
        entry
        if _is_told(entry.reason)
        else Waiting(entry.gang, _reason(world, standing[entry.gang], extensions))
        for entry in plan.lost
    )
    return replace(plan, lost=lost)


def _is_told(reason: Reason | None) -> bool:
    """Whether the solver has found the reason itself."""
    return reason is not None and reason.kind is not ReasonKind.NOT_PROVEN


def _reason(world: Snapshot, one: StandingGang, extensions: Extensions) -> Reason:
    gang = one.gang
    if one.policy is RepairPolicy.MOVE:
        world = replace(world, running=without(world, [one]))
        gang = whole(gang)
    reason = _why(replace(world, gangs=(gang,)), gang, extensions)
    return of_one_that_runs(reason) if one.live else reason


def _why(world: Snapshot, gang: Gang, extensions: Extensions) -> Reason:
    waiting = (Waiting(gang.key, Reason(ReasonKind.NOT_PROVEN)),)
    return explain(world, Plan(PlanStatus.FEASIBLE, (), waiting), extensions).waiting[0].reason


def _after(
    snapshot: Snapshot, plan: RepairPlan, standing: Mapping[GangKey, StandingGang]
) -> Snapshot:
    """The snapshot with the moves made and the lost members of the gangs that live running."""
    running = list(snapshot.moved(plan.moves).running)
    for placement in plan.placements:
        running += once_placed(standing[placement.gang].gang, placement)
    return replace(snapshot, running=tuple(running))


def _without_quotas(snapshot: Snapshot) -> SchedulerConfig:
    """The config without quotas: gangs that stand are counted already."""
    config = snapshot.config
    limited = config.spec.namespaces
    if all(policy.gpu_quota is None for policy in limited.values()):
        return config
    free = {name: policy.model_copy(update={"gpu_quota": None}) for name, policy in limited.items()}
    return config.model_copy(update={"spec": config.spec.model_copy(update={"namespaces": free})})


def explain_preemption(
    snapshot: Snapshot, plan: PreemptionPlan, extensions: Extensions
) -> PreemptionPlan:
    """Return the plan with the reason why its gang does not fit even without all victims.

    Where that is not proven, it stays unknown.
    """
    if plan.placement is not None or plan.status is not PlanStatus.OPTIMAL:
        return plan
    if _is_told(plan.reason):
        return plan
    gang = waiting_gang(snapshot, plan.gang)
    emptied = without(snapshot, possible_victims(snapshot, gang))
    world = replace(snapshot, running=emptied, gangs=(gang,), standing=())
    return replace(plan, reason=_why(world, gang, extensions))


def explain_defrag(snapshot: Snapshot, plan: DefragPlan, extensions: Extensions) -> DefragPlan:
    """Return the plan with the reason of every gang that still waits, the moves being made."""
    batch = Plan(PlanStatus.FEASIBLE, plan.placements, plan.waiting, moves=plan.moves)
    return replace(plan, waiting=explain(replace(snapshot, standing=()), batch, extensions).waiting)
