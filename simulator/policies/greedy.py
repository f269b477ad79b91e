"""Tree best fit: the tightest legal place, greatest value first; the solver's own fallback."""

from __future__ import annotations

from model.gang import Gang
from model.snapshot import Snapshot
from model.weights import age_step, placed_value
from simulator.policies.one_by_one import OneByOne


def by_value(snapshot: Snapshot, gang: Gang) -> tuple[int, int, float, str]:
    """Highest priority first, then greatest value (GPUs times age), then oldest."""
    value = placed_value(gang, age_step(snapshot.config.spec, snapshot.now, gang.created))
    return (-gang.priority, -value, gang.created, str(gang.key))


class Greedy(OneByOne):
    """As `solver.greedy`: each gang at the place whose leaves have the fewest GPUs free."""

    def __init__(self) -> None:
        super().__init__(by_value)
