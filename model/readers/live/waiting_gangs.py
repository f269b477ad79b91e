"""The gangs that wait, in order, and their facts: kept up as they change, not in each reading."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.live.reading import GangFacts, facts_of

FEW = 8
"""Where one draft of so many comes or goes, not all of them are put in order anew."""

_order = attrgetter("order")


class WaitingGangs:
    """What there is to place. No two drafts are of gangs of one name."""

    def __init__(self) -> None:
        self._in_order: list[Draft] = []
        self._gangs_in_order: list[Gang] = []
        """Those of `_in_order` as read: to ask each draft for its own costs ten times a copy."""
        self._gangs: dict[GangKey, Gang] = {}
        self._namespaces: Counter[str] = Counter()
        self._minding: set[GangKey] = set()
        self._demanding: set[GangKey] = set()
        self._facts: dict[GangKey, GangFacts] = {}
        self._given: Mapping[GangKey, GangFacts] | None = None

    @property
    def in_order(self) -> list[Draft]:
        """All drafts in natural order, to be read and not to be changed."""
        return self._in_order

    @property
    def gangs_in_order(self) -> tuple[Gang, ...]:
        """The gangs as read, in natural order."""
        return tuple(self._gangs_in_order)

    @property
    def gangs(self) -> dict[GangKey, Gang]:
        """The gangs as read by their keys, to be kept."""
        return dict(self._gangs)

    @property
    def namespaces(self) -> frozenset[str]:
        """The namespaces of the gangs."""
        return frozenset(self._namespaces)

    @property
    def any_minds_others(self) -> bool:
        """Whether more than a gang itself decides about any of them."""
        return bool(self._minding)

    @property
    def any_demands(self) -> bool:
        """Whether any demands more of its devices than their number."""
        return bool(self._demanding)

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
            self._gangs_in_order = [draft.as_read for draft in self._in_order]
        else:
            for draft in before:
                at = bisect_left(self._in_order, draft.order, key=_order)
                del self._in_order[at], self._gangs_in_order[at]
            for draft in now:
                at = bisect_right(self._in_order, draft.order, key=_order)
                self._in_order.insert(at, draft)
                self._gangs_in_order.insert(at, draft.as_read)
        for draft in before:
            key = draft.gang.key
            del self._facts[key], self._gangs[key]
            self._namespaces[key.namespace] -= 1
            if not self._namespaces[key.namespace]:
                del self._namespaces[key.namespace]
            self._minding.discard(key)
            self._demanding.discard(key)
            self._given = None
        for draft in now:
            key = draft.gang.key
            self._gangs[key] = draft.as_read
            self._namespaces[key.namespace] += 1
            if draft.concerns_others or draft.minds_others or draft.prefers_by_others:
                self._minding.add(key)
            if draft.as_read.demanding:
                self._demanding.add(key)
        self.renew(now)

    def renew(self, drafts: Iterable[Draft]) -> None:
        """Take the facts of these gangs anew: their pods have other versions."""
        for draft in drafts:
            self._facts[draft.gang.key] = facts_of(draft)
            self._given = None
