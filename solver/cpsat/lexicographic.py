"""Tier by tier, exactly, in as few solves as that takes.

Tiers are solved highest first and fixed before the next. Neighbouring tiers share a solve
where exact weights are small enough for it: a tier counts more than everything that all
lower tiers of the solve could add, so the optimum is the lexicographic one. (Measured at
1000 nodes: three tiers in one solve take half the time of three solves.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.plan import Stage
from fourleaf.solver.cpsat.backend import CpSat
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.program import Program, SolveResult, costs_of

LARGEST_OBJECTIVE = 1 << 46
"""A common solve stays below this, far from where a double loses whole numbers."""


@dataclass(slots=True)
class TierClass:
    """Gangs of one gang class, tier, age step and quota, oldest first; `count` are placed."""

    group: int
    gang_class: int
    priority: int
    value: int
    gangs: list[Gang]
    count: int = 0
    variable: int = -1

    @property
    def most(self) -> int:
        """What placing all of them is worth."""
        return self.value * len(self.gangs)


Tier = list[TierClass]


class LexicographicSearch:
    """Solves the tiers of a program, highest first, and fixes what each places.

    `uniform`: all pods ask for the same number of GPUs. `moving`: gangs that stand take part;
    then only what each tier is worth is fixed, as later solves may still choose among gangs
    that are worth the same.
    """

    def __init__(
        self,
        program: Program,
        classes: Sequence[TierClass],
        seed: int,
        uniform: bool,
        moving: bool = False,
    ) -> None:
        self._program = program
        self._moving = moving
        self.solver = CpSat(program, seed, scored=False, uniform=uniform, cuts=moving)
        by_priority: dict[int, Tier] = {}
        for tier_class in sorted(classes, key=lambda c: -c.priority):
            by_priority.setdefault(tier_class.priority, []).append(tier_class)
        self._tiers = list(by_priority.values())
        self.stages: list[Stage] = []

    def solve(self, deadline: Deadline) -> list[int] | None:
        """The value of every variable, `None` where the time ended before any was found."""
        values: list[int] | None = None
        start = 0
        while start < len(self._tiers):
            tiers, weights = self._next(start)
            terms = [
                (weight * tier_class.value, tier_class.variable)
                for tier, weight in zip(tiers, weights, strict=True)
                for tier_class in tier
            ]
            timer = deadline.timer()
            answer = self.solver.maximize(costs_of(self._program, terms), deadline.left())
            values = values if answer.values is None else answer.values
            if values is None:
                return None
            self._settle(tiers, weights, values, answer, timer)
            start += len(tiers)
        return values or [0] * self._program.size

    def _next(self, start: int) -> tuple[list[Tier], list[int]]:
        """As many tiers as may share a solve, and the exact weight of each."""
        scale = 1
        end = start
        while end < len(self._tiers):
            scale *= _most(self._tiers[end]) + 1
            if scale > LARGEST_OBJECTIVE and end > start:
                break
            end += 1
        tiers = self._tiers[start:end]
        weights = [1]
        for tier in reversed(tiers[1:]):
            weights.insert(0, weights[0] * (_most(tier) + 1))
        return tiers, weights

    def _settle(
        self,
        tiers: list[Tier],
        weights: list[int],
        values: list[int],
        answer: SolveResult,
        timer: Callable[[], float],
    ) -> None:
        seconds = timer() / len(tiers)
        left = answer.bound
        proven = answer.values is not None
        for tier, weight in zip(tiers, weights, strict=True):
            for tier_class in tier:
                tier_class.count = values[tier_class.variable]
                if not self._moving:
                    self.solver.fix(tier_class.variable, tier_class.count)
            placed = sum(tier_class.value * tier_class.count for tier_class in tier)
            if self._moving:
                self.solver.hold(
                    [(tier_class.value, tier_class.variable) for tier_class in tier], placed
                )
            bound = min(_most(tier), left // weight) if proven else _most(tier)
            bound = placed if answer.proven else max(bound, placed)
            proven = proven and bound == placed
            left -= placed * weight
            self.stages.append(Stage(f"who {tier[0].priority}", proven, placed, bound, seconds))


def _most(tier: Tier) -> int:
    return sum(tier_class.most for tier_class in tier)
