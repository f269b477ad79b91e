"""The gangs that wait, in order, and their facts: kept up as they change, not in each reading."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.live.reading import GangFacts, facts_of

FEW = 8
"""Where one draft of so many comes or goes, not all of them are put in order anew."""

_order = attrgetter("order")


class WaitingGangs:
    """What there is to place. No two drafts are of gangs of one name."""

    def __init__(self) -> None:
        self._in_order: list[Draft] = []
        self._facts: dict[GangKey, GangFacts] = {}
        self._given: Mapping[GangKey, GangFacts] | None = None

    @property
    def in_order(self) -> list[Draft]:
        """All drafts in natural order, to be read and not to be changed."""
        return self._in_order

    @property
    def facts(self) -> Mapping[GangKey, GangFacts]:
        """The facts of every gang; the same object for as long as none changes."""
        if self._given is None:
            self._given = dict(self._facts)
        return self._given

    def replace(self, before: Collection[Draft], now: Collection[Draft]) -> None:
        """Take `now` in place of the drafts `before`, which are there."""
        if (len(before) + len(now)) * FEW > len(self._in_order):
            gone = set(map(id, before))
            self._in_order = [draft for draft in self._in_order if id(draft) not in gone]
            self._in_order.extend(now)
            self._in_order.sort(key=_order)
        else:
            for draft in before:
                del self._in_order[bisect_left(self._in_order, draft.order, key=_order)]
            for draft in now:
                insort(self._in_order, draft, key=_order)
        for draft in before:
            del self._facts[draft.gang.key]
            self._given = None
        self.renew(now)

    def renew(self, drafts: Iterable[Draft]) -> None:
        """Take the facts of these gangs anew: their pods have other versions."""
        for draft in drafts:
            self._facts[draft.gang.key] = facts_of(draft)
            self._given = None
