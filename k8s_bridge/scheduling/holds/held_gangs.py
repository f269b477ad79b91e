"""Held gangs: kept from the solver, which can do nothing for them; the plan says why they wait."""

from __future__ import annotations

from fourleaf.model.gang import Gang
from fourleaf.model.plan import Waiting
from fourleaf.model.snapshot import Snapshot


class HeldGangs:
    """What the gangs on hold wait for. A gang that stays as it is keeps its very answer.

    Thousands of them would be sent, read and explained anew in every cycle otherwise, at the
    cost of the gangs that can start.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Gang, Waiting]] = {}
        """By the identity of the gang, which stays alive here."""

    def apart(self, snapshot: Snapshot) -> tuple[Snapshot, tuple[Waiting, ...]]:
        """`snapshot` without the gangs on hold, and what these wait for."""
        known, found = self._known, {}
        for gang, hold in [(one, one.hold) for one in snapshot.gangs if one.hold is not None]:
            before = known.get(id(gang))
            found[id(gang)] = before or (gang, Waiting(gang.key, hold.reason))
        self._known = found
        if not found:
            return snapshot, ()
        others = tuple(gang for gang in snapshot.gangs if gang.hold is None)
        return snapshot.with_gangs(others), tuple(waiting for _, waiting in found.values())
