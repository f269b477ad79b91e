"""The solver's answer: where every gang goes, what is proven, and why the rest must wait."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.kinds import Reason

MILLION = 10**6


class PlanStatus(StrEnum):
    """How much is known of a plan: proven within `solver.gap`, valid, or greedy."""

    OPTIMAL = "OPTIMAL"
    FEASIBLE = "FEASIBLE"
    GREEDY = "GREEDY"


@dataclass(frozen=True, slots=True)
class Placement:
    """One gang placed. `pods` are (pod, node) in rank order, bound members left out.

    `terms` are the points of each objective term, summed over the gang; penalties are
    negative. `score` is their sum.
    """

    gang: GangKey
    pods: tuple[tuple[str, str], ...]
    terms: tuple[tuple[str, int], ...] = ()

    @property
    def score(self) -> int:
        """All points of the gang together."""
        return sum(points for _, points in self.terms)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One gang not placed, and why."""

    gang: GangKey
    reason: Reason


@dataclass(frozen=True, slots=True)
class Phantom:
    """Room kept free for likely gangs: `nodes` whole nodes of `gpus` GPUs each on these nodes."""

    nodes: int
    gpus: int
    hosts: tuple[str, ...]
    value: int


@dataclass(frozen=True, slots=True)
class Move:
    """A running pod that has to go elsewhere."""

    namespace: str
    pod: str
    source: str
    target: str
    why: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One solve: a tier of "who" or the "where". Objective and bound in its own unit."""

    name: str
    proven: bool
    objective: int
    bound: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole answer. `objective` is the score of "where": placements plus phantoms."""

    status: PlanStatus
    placements: tuple[Placement, ...]
    waiting: tuple[Waiting, ...] = ()
    phantoms: tuple[Phantom, ...] = ()
    moves: tuple[Move, ...] = ()
    stages: tuple[Stage, ...] = ()
    objective: int = 0
    bound: int = 0
    seconds_build: float = 0.0
    seconds_solve: float = 0.0
    peak_memory_mib: int = 0
    note: str = ""

    @property
    def gap(self) -> float | None:
        """The largest relative gap of all stages, rounded up to millionths; 0 is proven best.

        `None` for a greedy plan: no better one was looked for.
        """
        if self.status is PlanStatus.GREEDY:
            return None
        worst = 0.0
        for stage in self.stages:
            worst = max(worst, abs(stage.bound - stage.objective) / max(1, abs(stage.bound)))
        return math.ceil(worst * MILLION) / MILLION
