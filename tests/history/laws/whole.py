"""A gang is bound as a whole or not at all, once everything is at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.history.gangs import Gang, stages
from tests.history.history import History


@dataclass(frozen=True, slots=True)
class Whole:
    """A gang with bound and with waiting members must have been whole at some version.

    One that was whole may wait for a replacement or for more members than it needs. `sizes`
    are those of gangs whose pods do not say it.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    name: str = "a whole gang or none of it"

    def breaches(self, history: History) -> list[str]:
        """The gangs that are partly bound at rest."""
        whole: set[str] = set()
        gangs: dict[str, Gang] = {}
        for _, gang in stages(history, self.sizes):
            gangs[gang.name] = gang
            if gang.whole:
                whole.add(gang.name)
        return [
            f"gang {gang.name}: {len(gang.bound)} of {gang.size} members are bound at rest and "
            f"{len(gang.waiting)} wait"
            for gang in gangs.values()
            if gang.name not in whole and gang.bound and gang.size > 0
        ]
