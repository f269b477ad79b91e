"""Turns: which of several gangs goes ahead where each decides where the others may go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.drafts import Draft

MOST_ROUNDS = 8
"""How often others are let go ahead before something else has to change."""

Order: TypeAlias = tuple[bool, int, int, float, GangKey]


class Turns:
    """Who goes first. A gang for which a plan found no place lets those that wait for it go ahead.

    So no gang that cannot start keeps others waiting. Once something else has changed, it has its
    turn again; of those of one priority, who was not placed longest ago comes first then.
    """

    def __init__(self) -> None:
        self._ahead: set[GangKey] = set()
        self._failed: set[GangKey] = set()
        self._since: dict[GangKey, int] = {}
        self._rounds = 0
        self._count = 0

    def begin(self) -> None:
        """All gangs are put into order anew."""
        self._ahead = set()

    def order(self, draft: Draft) -> Order:
        """The place of a gang, the first one smallest."""
        gang = draft.gang
        failed, since = gang.key in self._failed, self._since.get(gang.key, 0)
        return (failed, -gang.priority, since, gang.created, gang.key)

    def goes_ahead(self, gang: GangKey) -> None:
        """Others wait for this gang."""
        self._ahead.add(gang)

    def not_placed(self, gangs: Iterable[GangKey]) -> bool:
        """A plan found no place for these gangs; whether the order is another one now."""
        if not self._ahead or self._rounds >= MOST_ROUNDS:
            return False
        new = [gang for gang in gangs if gang in self._ahead and gang not in self._failed]
        if not new:
            return False
        self._rounds += 1
        for gang in new:
            self._count += 1
            self._since[gang] = self._count
        self._failed.update(new)
        return True

    def something_changed(self, there: Iterable[GangKey]) -> None:
        """What kept a gang from its place may be gone; those that are `there` have their turns."""
        self._failed.clear()
        self._rounds = 0
        if self._since:
            left = set(there)
            self._since = {gang: at for gang, at in self._since.items() if gang in left}
