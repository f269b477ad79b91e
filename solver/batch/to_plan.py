"""From placed gangs to a `Plan`."""

from __future__ import annotations

from fourleaf.model.job_mix import LikelyGang
from fourleaf.model.plan import Phantom, Placement, Plan, PlanStatus, Stage, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.solver.batch.select_batch import BatchSelection
from fourleaf.solver.cpsat.decode import PlacedGang
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.spread_sets import Crowds
from fourleaf.solver.objective.scorer import Scorer


def placement_of(
    state: CycleState, scorer: Scorer, placed: PlacedGang, before: Crowds | None = None
) -> Placement:
    """Pods on nodes, and the points of the gang by term, once those `before` are placed."""
    gang = placed.gang
    pods = tuple(
        [
            (pod, state.fabric.nodes[node].name)
            for role, nodes in zip(gang.roles, placed.nodes, strict=True)
            for pod, node in zip(role.pods, nodes, strict=True)
        ]
    )
    terms = scorer.terms(placed.group, gang, placed.nodes, before)
    return Placement(gang.key, pods, tuple(sorted(terms.items())))


def to_plan(
    state: CycleState,
    scorer: Scorer,
    selection: BatchSelection,
    placed: list[PlacedGang],
    rooms: tuple[tuple[LikelyGang, list[int]], ...],
    stages: tuple[Stage, ...],
    status: PlanStatus,
) -> Plan:
    """The plan, its gangs in batch order; those left waiting carry their reason later."""
    order = {gang.key: i for i, gang in enumerate(selection.batch)}
    ordered = sorted(placed, key=lambda p: order[p.gang.key])
    crowds = Crowds()
    placements = tuple(placement_of(state, scorer, p, crowds) for p in ordered)
    done = {p.gang for p in placements}
    waiting = tuple(
        Waiting(gang.key, Reason(selection.left_out.get(gang.key, ReasonKind.NOT_PROVEN)))
        for gang in state.snapshot.gangs
        if gang.key not in done
    )
    names = state.fabric.nodes
    phantoms = tuple(
        Phantom(likely.nodes, likely.gpus, tuple(names[i].name for i in nodes), likely.value)
        for likely, nodes in rooms
    )
    objective = sum(p.score for p in placements) + sum(p.value for p in phantoms)
    bound = objective
    if stages and stages[-1].name == "where":
        bound = max(objective, stages[-1].bound)
    return Plan(status, placements, waiting, phantoms, (), stages, objective, bound)
