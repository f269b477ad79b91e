"""Gangs that stand: what they are made of, and on which terms their pods may go elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.reasons.text import (
    RAISE_A_LIMIT,
    RAISE_ANY_BUDGET,
    WAIT_BESIDE,
    WAIT_TO_GO,
)

PodName = tuple[str, str]
"""Namespace and name of a pod."""


@dataclass(frozen=True, slots=True)
class EvictionLimit:
    """At most `most` of `pods` may be evicted in one plan.

    `who` says what sets the limit, such as `disruption budget ml/web`; `advice` what would raise
    it, where that is not what raises a budget, and time does not.
    """

    who: str
    pods: frozenset[PodName]
    most: int
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.who} lets {self.most} go"


class RepairPolicy(StrEnum):
    """What may be done for a gang that has lost members, from least to most.

    `patch`: the lost members are placed anew, all others stay. `shift`: others may move too,
    within the spines where the gang stands. `move`: to any legal place. `wait`: nothing, until
    the nodes return. `restart`: what is left of the gang is evicted and starts over in the
    queue. Where neither gang nor config says anything else, pods without an owner, which nothing
    makes anew, are patched.
    """

    PATCH = "patch"
    SHIFT = "shift"
    MOVE = "move"
    WAIT = "wait"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class StandingGang:
    """A gang of which members run.

    In each role `bound` are the members that live, with their nodes, and `pods` those that
    were lost. `movable`: its pods may go elsewhere although it has lost none. `move_cost` is
    the price of each pod that moves, in GPU-minutes since the last checkpoint or any other
    unit that these gangs share, from 1 up. `started` is when the last of its members was bound, in
    seconds since the epoch; 0 where that is not known.
    """

    gang: Gang
    movable: bool = False
    move_cost: int = 1
    policy: RepairPolicy = RepairPolicy.MOVE
    preemptible: bool = True
    started: float = 0.0

    @property
    def members(self) -> tuple[PodName, ...]:
        """Namespace and name of all members, live and lost."""
        space = self.gang.key.namespace
        return tuple(
            (space, pod)
            for role in self.gang.roles
            for pod in (*role.pods, *(name for name, _ in role.bound))
        )

    @property
    def live(self) -> tuple[PodName, ...]:
        """Namespace and name of the members that live."""
        space = self.gang.key.namespace
        return tuple((space, pod) for role in self.gang.roles for pod, _ in role.bound)

    @property
    def hit(self) -> bool:
        """Whether members were lost."""
        return any(role.pods for role in self.gang.roles)


def forbidden_by(limits: Sequence[EvictionLimit], must_go: bool = False) -> Reason:
    """That `limits` keep a gang from a place; what helps without advice of theirs is general.

    Without `limits` it is those of others. `must_go`: room for lost members alone is not enough,
    as pods that the limits name may not stay; nor does time help then, where a limit has advice.
    """
    advice = dict.fromkeys(limit.advice for limit in limits if limit.advice)
    general = [RAISE_A_LIMIT] if any(not limit.advice for limit in limits) else []
    waits = [WAIT_TO_GO] * (not advice) if must_go else [WAIT_BESIDE]
    return Reason(
        ReasonKind.EVICTIONS_FORBIDDEN,
        "; ".join(map(str, limits)),
        (("limits", len(limits)),),
        unblock=(*(general if limits else (RAISE_ANY_BUDGET,)), *advice, *waits),
    )
