"""Why a gang stands here and not there, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.gang import GangKey
from fourleaf.model.scores.other_places import OtherPlaces
from fourleaf.model.scores.terms import GangScore


class DecidedBy(StrEnum):
    """What decides between two places of one gang.

    `Term`: it is worth more here; `term` favours this place most. `Taken`: there it would be
    worth as much or more, but other gangs are placed there. `Room`: the same, but likely gangs
    would lose their room. `Equal`: both are worth the same. `Better`: there would be better now,
    but what runs is not moved for that. `Unproven`: there would be better, and nothing stands in
    the way: the plan is not the best. `Law`: it may not stand there.
    """

    TERM = "Term"
    TAKEN = "Taken"
    ROOM = "Room"
    EQUAL = "Equal"
    BETTER = "Better"
    UNPROVEN = "Unproven"
    LAW = "Law"


@dataclass(frozen=True, slots=True)
class Decision:
    """What decided, and in numbers.

    `difference` is what the gang earns here more than there, in points; `term_difference` the
    same of `term`, the one that favours the side that is worth more by most. `gangs` are those
    that are placed there instead.
    """

    ground: DecidedBy
    difference: int
    term: str = ""
    term_difference: int = 0
    gangs: tuple[GangKey, ...] = ()


def decide(here: GangScore, there: GangScore, others: OtherPlaces | None) -> Decision:
    """What decides that the gang is `here` and not `there`, two places under one snapshot.

    `others` are the others of the plan that puts it here; `None` for a gang that runs.
    """
    difference = here.points - there.points
    term, apart = _foremost(here, there, 1 if difference >= 0 else -1)
    if difference > 0:
        return Decision(DecidedBy.TERM, difference, term, apart)
    if others is not None:
        gangs = others.takers(there.gang, there.pods)
        if gangs:
            return Decision(DecidedBy.TAKEN, difference, term, apart, gangs)
        if others.spoils_room(there.gang, there.pods):
            return Decision(DecidedBy.ROOM, difference, term, apart)
    if difference == 0:
        return Decision(DecidedBy.EQUAL, 0)
    ground = DecidedBy.BETTER if others is None else DecidedBy.UNPROVEN
    return Decision(ground, difference, term, apart)


def _foremost(here: GangScore, there: GangScore, sign: int) -> tuple[str, int]:
    """The term with the largest difference in the direction of `sign`, the first of several."""
    mine, theirs = here.by_term, there.by_term
    names = [*mine, *(name for name in theirs if name not in mine)]
    apart = {name: mine.get(name, 0) - theirs.get(name, 0) for name in names}
    term = max(names, key=lambda name: sign * apart[name])
    return (term, apart[term]) if apart[term] else ("", 0)
