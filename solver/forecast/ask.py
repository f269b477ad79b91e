"""Whether one gang fits, found without the solver where that is possible. Loads no OR-tools."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.cpsat.constraints.quota import new_gpus, quota_left
from fourleaf.solver.forecast.earliest_start import earliest_start, starts_in_order
from fourleaf.solver.forecast.timeline import Timeline
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.process.guarded_call import own_steps


def fits_alone(snapshot: Snapshot, extensions: Extensions) -> bool | None:
    """Whether the only waiting gang of `snapshot` can be placed; None where only a solve tells.

    Its places are walked with the room that each role has there by itself. Where no place has
    that, the gang fits nowhere. Where one has, a gang of one role fits, unless a law looks at
    more than that room: at uplinks, or at nodes that its pods share.
    """
    if not select_batch(snapshot).batch:
        return False
    gang = snapshot.gangs[0]
    left = quota_left(snapshot).get(gang.key.namespace)
    if left is not None and new_gpus(gang) > max(0, left):
        return False
    factory = gang_groups_for(snapshot, extensions)
    group = factory.of(gang)
    if group.loose:
        return None
    room = CycleState(snapshot, factory.fabric).room(group.kind).by_leaf
    if not any(group.fit(place, room) for place in group.candidates.required):
        return False
    simple = len(gang.roles) == 1 and not group.careful and not gang.bandwidth
    return True if simple else None


def asking_client(niceness: int = 0) -> SolverClient:
    """A client for many small questions, whose plans do not say why a gang waits."""
    steps = replace(own_steps(), explain=lambda _, plan, *__: plan)
    return SolverClient(steps=steps, niceness=niceness)


def ask_starts(client: SolverClient, snapshot: Snapshot) -> dict[GangKey, Start]:
    """The expected start of every waiting gang, in the order of planning, each after the last.

    `snapshot.standing` are the gangs that they may have to wait for. Raises what
    `SolverClient.plan` raises.
    """
    return starts_in_order(snapshot, _Asked(client))


def ask_start(client: SolverClient, snapshot: Snapshot, gang: Gang) -> Start:
    """The earliest start of one waiting gang of `snapshot`, as if it waited alone."""
    return earliest_start(Timeline(snapshot), gang, _Asked(client))


class _Asked:
    """Every solve has the time limit of the config for itself."""

    def __init__(self, client: SolverClient) -> None:
        self._client = client
        self._extensions = client.extensions_in_force()

    def fits(self, snapshot: Snapshot) -> bool | None:
        quick = fits_alone(snapshot, self._extensions)
        if quick is not None:
            return quick
        plan = self._client.plan(snapshot)
        if plan.placements:
            return True
        sure = plan.status is not PlanStatus.GREEDY and _proven(plan, "who")
        return False if sure else None

    def place(self, snapshot: Snapshot) -> Placement | None:
        placements = self._client.plan(snapshot).placements
        return placements[0] if placements else None

    def fewest(self, snapshot: Snapshot) -> tuple[tuple[GangKey, ...], bool]:
        plan = self._client.preempt(snapshot, snapshot.gangs[0].key)
        if plan.placement is None:
            return (), plan.status is PlanStatus.OPTIMAL
        return tuple(victim.gang for victim in plan.victims), _proven(plan, "victims")


def _proven(plan: Plan | PreemptionPlan, goal: str) -> bool:
    """Whether all stages of `goal` are proven, whatever came after them."""
    return all(stage.proven for stage in plan.stages if stage.name.startswith(goal))
