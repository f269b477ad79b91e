"""Turns: which of several gangs goes ahead where each decides where the others may go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Waiting
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.fit_nowhere import FitNowhere
from fourleaf.model.readers.gangs.likeness import Likeness
from fourleaf.model.reasons.kinds import ReasonKind

MOST_ROUNDS = 8
"""How often others are let go ahead before something else has to change."""

YIELD_SECONDS = 60.0
"""Seconds for which the gangs of a namespace come after those of others, once one of them has kept
gangs of others waiting and found no place."""

Order: TypeAlias = tuple[float, bool, int, int, float, str, str]


_OF_THE_KIND = frozenset(
    {
        ReasonKind.NO_MATCHING_NODES,
        ReasonKind.TOO_LARGE,
        ReasonKind.NO_FREE_CAPACITY,
        ReasonKind.NO_ADJACENT_LEAVES,
        ReasonKind.UPLINK_FULL,
        ReasonKind.OUTRANKED,
        ReasonKind.QUOTA_EXCEEDED,
    }
)
"""Reasons that keep all gangs of a kind from their places, where they keep the first of them."""

_Turn: TypeAlias = Likeness | GangKey
"""What has a turn: all gangs of one kind together, or a gang of none."""


class Turns:
    """Who goes first. A gang for which a plan found no place lets those that wait for it go ahead.

    So no gang that cannot start keeps others waiting. Once something else has changed, it has its
    turn again; of those of one priority, who was not placed longest ago comes first then. Those of
    its kind find no place either: they are not tried, and go on waiting for the same gang.

    A tenant may have any number of gangs of which no two are of a kind, and of a priority above all
    others. So one of them that finds no place while gangs of other namespaces wait for it costs all
    of its namespace the turn, whatever changes meanwhile. One that fits on no node has none.
    """

    def __init__(self) -> None:
        self._ahead: dict[GangKey, tuple[_Turn, bool]] = {}
        """Those that others wait for: their turns, and whether any of these is of another kind."""
        self._for_others: set[GangKey] = set()
        """Those that gangs of other namespaces wait for."""
        self._yields: dict[str, float] = {}
        """Namespace -> until when it comes after others, in seconds since the epoch."""
        self._failed: set[_Turn] = set()
        self._is_new = self._has_changed = False
        """Whether no plan was made since the last of them failed, and whether something changed."""
        self._since: dict[_Turn, int] = {}
        self._rounds = 0
        self._count = 0
        self._nowhere = FitNowhere()

    def begin(self, fabric: Fabric) -> None:
        """All gangs are put into order anew."""
        self._ahead = {}
        self._for_others = set()
        self._nowhere.begin(fabric)

    def have_none_for(self, draft: Draft) -> bool:
        """Whether a gang keeps none waiting, and waits for none: it fits on no node."""
        return self._nowhere.has(draft.as_read)

    def order(self, draft: Draft) -> Order:
        """The place of a gang, the first one smallest."""
        gang, failed, since = draft.gang, False, 0
        yields = self._yields.get(gang.key.namespace, 0.0)
        if self._since:
            turns = gang.key, _turn_of(draft)
            failed = not self._failed.isdisjoint(turns)
            since = max(self._since.get(turn, 0) for turn in turns)
        # Its names by themselves: thousands are compared, most of them of one second.
        rank = (yields, failed, -gang.priority, since)
        return (*rank, gang.created, gang.key.namespace, gang.key.name)

    def goes_ahead(self, first: Draft, behind: Draft) -> None:
        """One gang waits for another."""
        key, turn = first.gang.key, _turn_of(first)
        of_another = first.kind is None or first.kind != behind.kind
        if of_another or key not in self._ahead:
            self._ahead[key] = turn, of_another
        if key.namespace != behind.gang.key.namespace:
            self._for_others.add(key)

    def not_placed(self, waiting: Iterable[Waiting], now: float) -> bool:
        """A plan found no place for these gangs; whether the order is another one now."""
        is_over = self._is_new and self._has_changed
        if is_over:
            self._failed.clear()
        self._is_new = self._has_changed = False
        if not self._ahead or self._rounds >= MOST_ROUNDS:
            return is_over
        new: dict[_Turn, None] = {}
        yielding: set[str] = set()
        for one in waiting:
            turn, of_another = self._ahead.get(one.gang, (None, False))
            if turn is not None and one.reason.kind not in _OF_THE_KIND:
                new[one.gang] = None
            elif turn is not None and of_another:
                new[turn] = None
            if one.gang in self._for_others:
                yielding.add(one.gang.namespace)
        turns = [turn for turn in new if turn not in self._failed]
        if not turns and not yielding:
            return is_over
        self._rounds += 1
        self._yields |= dict.fromkeys(yielding, now + YIELD_SECONDS)
        for turn in turns:
            self._count += 1
            self._since[turn] = self._count
        self._failed.update(turns)
        self._is_new = True
        return True

    def something_changed(self, there: Iterable[Draft], now: float) -> None:
        """What kept a gang from its place may be gone; those that are `there` have their turns.

        Who waited for one that failed comes first in one plan all the same: where something changes
        all the time, it would else never be planned.
        """
        # A clock that is set back lets none wait longer.
        until = now + YIELD_SECONDS
        self._yields = {name: at for name, at in self._yields.items() if now < at <= until}
        self._has_changed = True
        if not self._is_new:
            self._failed.clear()
        self._rounds = 0
        if self._since:
            left = {turn for draft in there for turn in (draft.gang.key, _turn_of(draft))}
            self._since = {turn: at for turn, at in self._since.items() if turn in left}


def _turn_of(draft: Draft) -> _Turn:
    return draft.kind or draft.gang.key
