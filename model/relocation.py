"""What comes of gangs that stand: repaired, evicted for another, or moved together."""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move, Placement, PlanStatus, Stage, Waiting
from fourleaf.model.reasons.kinds import Reason


@dataclass(frozen=True, slots=True)
class RelocationPlan:
    """What each of these plans tells of how it was found."""

    status: PlanStatus
    stages: tuple[Stage, ...] = field(default=(), kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)
    peak_memory_mib: int = field(default=0, kw_only=True)
    note: str = field(default="", kw_only=True)

    @property
    def proven(self) -> bool:
        """Whether every stage is proven."""
        return self.status is PlanStatus.OPTIMAL


@dataclass(frozen=True, slots=True)
class RepairPlan(RelocationPlan):
    """How the gangs that lost members go on living.

    `placements` hold, for each gang that lives, a node for each of its lost members, in rank
    order, without points. `moves` are live members of any gang that go elsewhere. `lost` are
    gangs that no legal place can be found for, and stay as they are; `waits` those that wait
    for their nodes; `restarts` those of which everything left is evicted. `cost` is the sum of
    the moved pods, each at the price of its gang. `objective` and `bound` are the points of
    the gangs that were placed or moved, in their new places.
    """

    placements: tuple[Placement, ...] = ()
    moves: tuple[Move, ...] = ()
    lost: tuple[Waiting, ...] = ()
    waits: tuple[GangKey, ...] = ()
    restarts: tuple[GangKey, ...] = ()
    cost: int = 0
    objective: int = 0
    bound: int = 0


@dataclass(frozen=True, slots=True)
class Victim:
    """A gang that has to go, whole. `pods` are (name, node) of its live members."""

    gang: GangKey
    priority: int
    pods: tuple[tuple[str, str], ...]
    cost: int


@dataclass(frozen=True, slots=True)
class PreemptionPlan(RelocationPlan):
    """Victims: what to evict so that one gang may start, and where it then stands.

    `placement` is `None`, and `reason` says why, where the gang would not fit even without
    all gangs that it may evict, or where nothing was found in time.
    """

    gang: GangKey
    placement: Placement | None = None
    victims: tuple[Victim, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one defragmentation may move: pods, and their prices added up."""

    pods: int
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class FreeLeaves:
    """Whole free leaves: how many, and how many disjoint pairs and quads of adjacent ones."""

    leaves: int = 0
    pairs: int = 0
    quads: int = 0


@dataclass(frozen=True, slots=True)
class DefragPlan(RelocationPlan):
    """Moves that let waiting gangs start, or that make room for likely ones.

    `placements` are the waiting gangs that may start once the moves are made, `waiting` the
    others. `before` and `after` say what is free without and with the moves, the placed gangs
    left out of both.
    """

    moves: tuple[Move, ...] = ()
    placements: tuple[Placement, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    before: FreeLeaves = FreeLeaves()
    after: FreeLeaves = FreeLeaves()
    cost: int = 0
    objective: int = 0
    bound: int = 0
