"""Tree best fit: the tightest legal place, greatest value first; the solver's own fallback."""

from __future__ import annotations

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.gang import Gang
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.policies.one_by_one import OneByOne


def by_value(snapshot: Snapshot, gang: Gang) -> tuple[int, int, float, str]:
    """Highest priority first, then greatest value (GPUs times age), then oldest."""
    value = placed_value(gang, age_step(snapshot.config.spec, snapshot.now, gang.created))
    return (-gang.priority, -value, gang.created, str(gang.key))


class Greedy(OneByOne):
    """Like the solver's `greedy`: each gang at the place whose leaves have the fewest GPUs free."""

    def __init__(self) -> None:
        super().__init__(by_value)
