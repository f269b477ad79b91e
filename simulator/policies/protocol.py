"""What a policy is asked."""

from __future__ import annotations

from typing import Protocol

from fourleaf.model.gang import Gang
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start


class Policy(Protocol):
    """Decides for one replay; the same questions get the same answers.

    `scored`: its plans say what their placements are worth, so that the validator can compare.
    """

    @property
    def scored(self) -> bool:
        """Whether the plans carry scores."""

    def decide(self, snapshot: Snapshot) -> Plan:
        """Place what can be placed of the gangs that wait; the others are `waiting`.

        A gang that is left waiting would not be placed either if it were asked again with nothing
        freed in between, unless the batch was full.
        """

    def start(self, snapshot: Snapshot, gang: Gang) -> Start:
        """When and where this policy could start one gang if no new one came."""

    def close(self) -> None:
        """Give back what the policy holds. May be called again."""
