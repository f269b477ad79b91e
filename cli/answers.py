"""Answers of verbs as data, which rendering reads and verbs make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourleaf.model.gang import Gang, GangKey
    from fourleaf.model.plan import Placement, Plan, PlanStatus, Waiting
    from fourleaf.model.reasons.pod_condition import ConditionReason
    from fourleaf.model.running_gang import RepairPolicy
    from fourleaf.model.snapshot import Snapshot
    from fourleaf.solver.explain.appraisal import Appraisal


@dataclass(frozen=True, slots=True)
class Scores:
    """The gangs that were asked for, under the plan of all; `wanted` where one was."""

    snapshot: Snapshot
    plan: Plan
    gangs: tuple[Appraisal, ...]
    wanted: GangKey | None = None


@dataclass(frozen=True, slots=True)
class RunningMember:
    """A pod of a gang and its place. `devices` are numbers as the scheduler wrote them.

    `trouble` says why it may not run there, or not for long: `its node is not ready`. `silent`:
    seconds for which the kubelet of its node has been silent, where that is all that is known.
    `away`: it is unknown whether it runs, as its node is silent, not ready or gone.
    `ends`: it is to end, and may have been replaced already.
    """

    pod: str
    node: str
    leaf: str
    devices: tuple[int, ...]
    trouble: str = ""
    silent: float | None = None
    away: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Failing:
    """Seconds of silence after which a node is dead, and what comes of the gang then.

    `policy` is its repair policy, None where no gang is repaired. `most_away`: how many of how many
    nodes are silent or not ready, where these are most: if they fell silent together, none is dead.
    """

    after_seconds: float
    policy: RepairPolicy | None
    most_away: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """All about one gang: what stands, and for the rest what planning right now comes to.

    `told` in place of a plan: what the scheduler has said. `stays`: why it cannot repair the gang,
    which has lost members, as it has said. `failing`: by which rules a node that is silent is dead,
    and what follows, where a scheduler leads; `leaderless`: none does, so nothing starts.
    `not_created`: what keeps its missing pods from being created, as their maker has said;
    `not_yielding`: why lower gangs do not make way for it, as the scheduler has said.
    """

    key: GangKey
    standing: tuple[RunningMember, ...]
    gang: Gang | None = None
    placement: Placement | None = None
    waiting: Waiting | None = None
    status: PlanStatus | None = None
    gap: float | None = None
    """Status and gap of the plan that says so, where there is one."""
    told: ConditionReason | None = None
    stays: ConditionReason | None = None
    failing: Failing | None = None
    leaderless: bool = False
    not_created: str = ""
    not_yielding: str = ""
