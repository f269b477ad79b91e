"""When one gang could start, for policies that place one gang at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Alone:
    """Asks the policy itself about one gang, on what the cluster will be."""

    decide: Callable[[Snapshot], Plan]

    def fits(self, snapshot: Snapshot) -> bool:
        """Whether the policy would place it."""
        return self.place(snapshot) is not None

    def place(self, snapshot: Snapshot) -> Placement | None:
        """Where the policy would place it."""
        return next(iter(self.decide(snapshot).placements), None)

    def fewest(
        self,
        snapshot: Snapshot,  # noqa: ARG002 - protocol
    ) -> tuple[tuple[GangKey, ...], bool]:
        """No gang is evicted for another."""
        return (), False
