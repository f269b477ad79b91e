"""The solves of the search for starts, asked of the solver process one by one."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.relocation import PreemptionPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.starts import Start
from fourleaf.solver.client import SolverClient
from fourleaf.solver.quick import fits_alone
from fourleaf.solver.starting import earliest_start, starts_in_order
from fourleaf.solver.steps import own_steps
from fourleaf.solver.timeline import Timeline


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
        return False if _is_sure(plan) else None

    def place(self, snapshot: Snapshot) -> Placement | None:
        placements = self._client.plan(snapshot).placements
        return placements[0] if placements else None

    def fewest(self, snapshot: Snapshot) -> tuple[tuple[GangKey, ...], bool]:
        plan = self._client.preempt(snapshot, snapshot.gangs[0].key)
        if plan.placement is None:
            return (), plan.status is PlanStatus.OPTIMAL
        return tuple(victim.gang for victim in plan.victims), _proven(plan, "victims")


def _is_sure(plan: Plan) -> bool:
    """Whether a plan that places nobody says that nobody can be placed."""
    return plan.status is not PlanStatus.GREEDY and _proven(plan, "who")


def _proven(plan: Plan | PreemptionPlan, goal: str) -> bool:
    """Whether all stages of `goal` are proven, whatever came after them."""
    return all(stage.proven for stage in plan.stages if stage.name.startswith(goal))
