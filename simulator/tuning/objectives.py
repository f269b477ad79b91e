"""What a config is judged by: figures of replays, and which way is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fourleaf.simulator.measures.summary import Summary
from fourleaf.simulator.measures.tables import duration, percent


class Direction(StrEnum):
    """Which way is better, in Optuna's words."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


@dataclass(frozen=True, slots=True)
class Objective:
    """One figure of a replay. `shown` writes a value in its unit."""

    name: str
    meaning: str
    direction: Direction
    of: Callable[[Summary], float]
    shown: Callable[[float], str]

    def gain(self, base: float, value: float) -> float:
        """How much better `value` is than `base`, as a share of `base`; negative where worse."""
        better = value - base if self.direction is Direction.MAXIMIZE else base - value
        if not better:
            return 0.0
        return better / abs(base) if base else math.copysign(math.inf, better)


OBJECTIVES: Mapping[str, Objective] = {
    one.name: one
    for one in (
        Objective(
            "allocation",
            "share of GPU-seconds used until the last arrival",
            Direction.MAXIMIZE,
            lambda one: one.allocation,
            percent,
        ),
        Objective(
            "largest-wait",
            "95th percentile of the wait of the largest gangs",
            Direction.MINIMIZE,
            lambda one: one.largest.p95,
            duration,
        ),
        Objective(
            "leaves",
            "per gang, over the fewest possible",
            Direction.MINIMIZE,
            lambda one: one.leaves,
            lambda value: f"{value:.3f}",
        ),
        Objective("wait", "mean wait", Direction.MINIMIZE, lambda one: one.wait_mean, duration),
        Objective(
            "completion",
            "mean time from arrival to end",
            Direction.MINIMIZE,
            lambda one: one.completion_mean,
            duration,
        ),
    )
}
USUAL = ("allocation", "largest-wait", "leaves")
"""The objectives unless others are named."""
