"""Gangs of one pod that are alike: what others do to them is worked out once, and remembered.

A thousand replicas are a thousand gangs, of which each reading has to say the same. What is
remembered stands in their drafts, which last from one reading to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.likeness import Likeness, Steps
from fourleaf.model.readers.pods.pods import Pod


@dataclass(frozen=True, slots=True)
class _KnownTurn:
    """Who goes ahead of gangs that are alike, while there are `ahead`; `cost` in comparisons."""

    ahead: int
    first: GangKey | None
    cost: int


class AlikeGangs:
    """What one reading knows of them. `Draft.is_plain` says which gangs these are."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        self._steps: dict[Likeness, Steps] = {}
        self._same: dict[tuple[int, int], tuple[Steps, Steps, bool]] = {}
        self._answers: dict[Likeness, _KnownTurn] = {}
        plain = [draft for draft in drafts if draft.is_plain]
        new = [draft for draft in plain if draft.likeness is None]
        old = [draft for draft in plain if draft.likeness is not None] if new else []
        known = {one: one for draft in old for one in (draft.likeness, draft.kind)}
        for draft in new:
            like = Likeness.of(draft.waiting[0])
            kind = Likeness.of_kind(draft.as_read, draft.waiting[0])
            draft.likeness = known.setdefault(like, like)
            draft.kind = known.setdefault(kind, kind)

    def narrow(
        self,
        draft: Draft,
        find: Callable[[Draft], Steps],
        apply: Callable[[Draft, Steps, Sequence[Pod]], None],
    ) -> None:
        """Let the gang be what the steps that `find` names make of it, as it was last time."""
        like = _likeness(draft)
        if like not in self._steps:
            self._steps[like] = find(draft)
        steps, last = self._steps[like], draft.narrowed
        if last is not None and last.of is draft.gang and self._are_same(last.by, steps):
            draft.gang = last.gang
            return
        before = draft.gang
        apply(draft, steps, draft.waiting)
        draft.remember_narrowed(before, steps)

    def first_ahead(
        self,
        draft: Draft,
        ahead: int,
        count: Callable[[int], int],
        find: Callable[[], GangKey | None],
    ) -> GangKey | None:
        """The gang that goes ahead of this one, None where none does.

        The same as for the last one that is like it, as long as no more are `ahead`; `count` adds
        comparisons to those that were made, and says how many there are.
        """
        like = _likeness(draft)
        known = self._answers.get(like)
        if known is not None and known.ahead == ahead:
            count(known.cost)
            return known.first
        before = count(0)
        first = find()
        self._answers[like] = _KnownTurn(ahead, first, count(0) - before)
        return first

    def _are_same(self, some: Steps, others: Steps) -> bool:
        """Whether the steps are the same: compared once for all gangs that share both."""
        if some is others:
            return True
        place = id(some), id(others)
        known = self._same.get(place)
        if known is None:
            # They are kept, so that no other steps are found at their addresses.
            known = self._same[place] = some, others, some == others
        return known[2]


def _likeness(draft: Draft) -> Likeness:
    return draft.likeness or Likeness.of(draft.waiting[0])
