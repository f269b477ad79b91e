"""The search for the earliest start of gangs that wait (docs/model.md, section 9).

Pods only end, so once a gang fits beside the running pods it fits at all later moments too,
and the first moment is found by halving. Gangs that are expected to start later than this one
are another matter: a later start may meet them. So the first moment without them is a lower
bound, the first one beside all of them an upper bound, and in between the moments are halved
only where the same of them are met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Protocol

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.solver.forecast.timeline import Reserved, Timeline
from fourleaf.solver.instance.gang_classes import gang_order


class Solves(Protocol):
    """The solves that the search is made of, for snapshots in which one gang waits."""

    def fits(self, snapshot: Snapshot) -> bool | None:
        """Whether the gang can start; None where the time ran out."""

    def place(self, snapshot: Snapshot) -> Placement | None:
        """The best place for the gang, None where none was found in time."""

    def fewest(self, snapshot: Snapshot) -> tuple[tuple[GangKey, ...], bool]:
        """The fewest standing gangs that must go for it, and whether that is proven.

        None of them where that does not help either, or the time ran out.
        """


def starts_in_order(snapshot: Snapshot, solves: Solves) -> dict[GangKey, Start]:
    """The expected start of every waiting gang, in the order of planning.

    Each leaves the gangs before it the places that they are expected to have. One that nothing
    can say the start of takes no place.
    """
    timeline = Timeline(snapshot)
    found: dict[GangKey, Start] = {}
    for gang in sorted(snapshot.gangs, key=gang_order):
        start = found[gang.key] = earliest_start(timeline, gang, solves)
        if start.at is not None and start.placement is not None:
            end = None if gang.duration is None else start.at + gang.duration
            timeline = timeline.with_reserved(Reserved(gang, start.placement, start.at, end))
    return found


def earliest_start(timeline: Timeline, gang: Gang, solves: Solves) -> Start:
    """When `gang` could start, and where."""
    if gang.hold is not None:
        return Start(gang.key, hold=gang.hold)
    search = _StartSearch(timeline, gang, solves)
    moment = search.first()
    if moment is None:
        waits_for, fewest = solves.fewest(timeline.in_the_end(gang))
        return Start(gang.key, waits_for=waits_for, proven=search.proven and fewest)
    placement = solves.place(timeline.at(moment, gang, timeline.beside(moment, gang.duration)))
    if placement is None:
        return Start(gang.key, proven=False)
    return Start(gang.key, moment, placement, proven=search.proven)


class _StartSearch:
    """The first moment at which one gang fits; `proven` unless a solve ran out of time."""

    def __init__(self, timeline: Timeline, gang: Gang, solves: Solves) -> None:
        self.proven = True
        self._timeline = timeline
        self._gang = gang
        self._solves = solves

    def first(self) -> float | None:
        timeline, seconds = self._timeline, self._gang.duration
        lower = _first(timeline.moments, lambda moment: self._fits(moment, ()))
        if lower is None:
            return None
        moments = timeline.moments[lower:]
        beside = timeline.beside(moments[0], seconds)
        if not beside or self._fits(moments[0], beside):
            return moments[0]
        upper = _first(moments[1:], lambda moment: self._fits_beside(moment, None))
        between = moments[1:] if upper is None else moments[1 : 1 + upper]
        for _, some in groupby(between if seconds is not None else (), self._met):
            run = list(some)
            found = _first(run, lambda moment: self._fits_beside(moment, seconds))
            if found is not None:
                return run[found]
        return None if upper is None else moments[1 + upper]

    def _met(self, moment: float) -> int:
        """How many gangs will have started before this one ends, if it starts at `moment`."""
        until = moment + (self._gang.duration or 0.0)
        return sum(one.start < until for one in self._timeline.reserved)

    def _fits_beside(self, moment: float, seconds: float | None) -> bool:
        """Whether it fits for so long without meeting a gang whose start is known."""
        return self._fits(moment, self._timeline.beside(moment, seconds))

    def _fits(self, moment: float, beside: Sequence[Reserved]) -> bool:
        fits = self._solves.fits(self._timeline.at(moment, self._gang, beside))
        self.proven = self.proven and fits is not None
        return bool(fits)


def _first(moments: Sequence[float], fits: Callable[[float], bool]) -> int | None:
    """The position of the first moment that fits, where all later ones do too."""
    if not moments:
        return None
    if fits(moments[0]):
        return 0
    if len(moments) == 1 or not fits(moments[-1]):
        return None
    low, high = 0, len(moments) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(moments[middle]) else (middle, high)
    return high
