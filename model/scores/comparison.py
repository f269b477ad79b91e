"""Two plans for the same gangs under two configs: who goes elsewhere, and what decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement, Plan, Waiting
from fourleaf.model.scores.decision import DecidedBy, Decision, decide
from fourleaf.model.scores.other_places import OtherPlaces
from fourleaf.model.scores.terms import TermScores, shared_points
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.recompute import NOTHING


@dataclass(frozen=True, slots=True)
class PlannedSnapshot:
    """A plan and the snapshot, with its config, that it is for."""

    snapshot: Snapshot
    plan: Plan


class ChangeKind(StrEnum):
    """What becomes of a gang in the second plan.

    `Shuffled`: it stands elsewhere, but neither config tells the two places apart, and no gang took
    the first who was not shuffled too: the first place would have done as well.
    """

    SAME = "Same"
    MOVED = "Moved"
    SHUFFLED = "Shuffled"
    NEWLY_PLACED = "NewlyPlaced"
    NEWLY_WAITING = "NewlyWaiting"
    STILL_WAITING = "StillWaiting"


@dataclass(frozen=True, slots=True)
class GangChange:
    """One gang in both plans.

    `before` and `after` are its places, empty where it waits. Gangs that move have both places
    valued under both configs: `decision` is why it stands at the second place in the second plan
    and not at the first, `held` why it stood at the first in the first plan and not at the second.
    `waiting` is why it waits, after or else before.
    """

    gang: GangKey
    kind: ChangeKind
    size: int
    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    decision: Decision | None = None
    waiting: Waiting | None = None
    held: Decision | None = None


@dataclass(frozen=True, slots=True)
class TermTotal:
    """One term over all gangs placed: its mean `value` by their size, and its points."""

    value: float
    points: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both plans, what changes from gang to gang, and the totals of each term in both."""

    before: PlannedSnapshot
    after: PlannedSnapshot
    changes: tuple[GangChange, ...]
    terms_before: Mapping[str, TermTotal]
    terms_after: Mapping[str, TermTotal]

    def of(self, kind: ChangeKind) -> tuple[GangChange, ...]:
        """The gangs of which that becomes."""
        return tuple(change for change in self.changes if change.kind is kind)


def compare(
    before: PlannedSnapshot, after: PlannedSnapshot, extensions: Extensions = NOTHING
) -> Comparison:
    """Put two plans side by side, gangs in the order of the first, then of the second."""
    return Comparison(
        before,
        after,
        tuple(_told_apart([*_changes(before, after, extensions)], before.plan, after.plan)),
        totals(before, extensions),
        totals(after, extensions),
    )


def totals(outcome: PlannedSnapshot, extensions: Extensions = NOTHING) -> dict[str, TermTotal]:
    """Term -> its total over the gangs placed; all terms that are weighed have an entry."""
    scorer = TermScores(outcome.snapshot, extensions)
    gangs = {gang.key: gang for gang in outcome.snapshot.gangs}
    scores = [scorer.score(gangs[one.gang], one.pods) for one in outcome.plan.placements]
    size = sum(score.size for score in scores)
    value: dict[str, int] = dict.fromkeys(scorer.names, 0)
    points: dict[str, int] = dict.fromkeys(scorer.names, 0)
    for score in scores:
        for term in score.terms:
            value[term.name] = value.get(term.name, 0) + term.value * score.size
            points[term.name] = points.get(term.name, 0) + term.points
    return {name: TermTotal(value[name] / max(1, size), points[name]) for name in value}


def _changes(
    before: PlannedSnapshot, after: PlannedSnapshot, extensions: Extensions
) -> Iterator[GangChange]:
    old = {one.gang: one for one in before.plan.placements}
    new = {one.gang: one for one in after.plan.placements}
    waited = {one.gang: one for one in before.plan.waiting}
    waits = {one.gang: one for one in after.plan.waiting}
    gangs = {gang.key: gang for gang in (*before.snapshot.gangs, *after.snapshot.gangs)}
    sides = _Side(before, extensions), _Side(after, extensions)
    for key in dict.fromkeys((*old, *waited, *new, *waits)):
        gang, waiting = gangs[key], waits.get(key) or waited.get(key)
        match old.get(key), new.get(key):
            case Placement() as first, Placement() as second:
                if set(first.pods) == set(second.pods):
                    yield GangChange(key, ChangeKind.SAME, gang.weight, first.pods, second.pods)
                else:
                    yield _moved(gang, first, second, sides)
            case Placement() as first, None:
                yield GangChange(
                    key, ChangeKind.NEWLY_WAITING, gang.weight, before=first.pods, waiting=waiting
                )
            case None, Placement() as second:
                yield GangChange(
                    key, ChangeKind.NEWLY_PLACED, gang.weight, after=second.pods, waiting=waiting
                )
            case _:
                yield GangChange(key, ChangeKind.STILL_WAITING, gang.weight, waiting=waiting)


def _moved(
    gang: Gang, first: Placement, second: Placement, sides: tuple[_Side, _Side]
) -> GangChange:
    old, new = sides
    return GangChange(
        gang.key,
        ChangeKind.MOVED,
        gang.weight,
        first.pods,
        second.pods,
        decision=new.decided(gang, second, first),
        held=old.decided(gang, first, second),
    )


class _Side:
    """Values places of a gang under one config, in the company of its plan."""

    def __init__(self, outcome: PlannedSnapshot, extensions: Extensions) -> None:
        self._fabric = outcome.snapshot.fabric
        self._gangs = {gang.key: gang for gang in outcome.snapshot.gangs}
        self._scorer = TermScores(outcome.snapshot, extensions)
        self._company = OtherPlaces(outcome.snapshot, outcome.plan, extensions)

    def decided(self, gang: Gang, here: Placement, there: Placement) -> Decision:
        """Why this plan has `gang` `here`, and not `there` as the other has it."""
        gang = self._gangs.get(gang.key, gang)
        known = all(node in self._fabric.nodes for _, node in there.pods)
        same = {pod for pod, _ in here.pods} == {pod for pod, _ in there.pods}
        if not (known and same) or self._company.forbids(gang, there.pods):
            return Decision(DecidedBy.LAW, 0)
        score = self._scorer.score
        return decide(score(gang, here.pods), score(gang, there.pods), self._company)


def _told_apart(changes: Sequence[GangChange], before: Plan, after: Plan) -> Iterator[GangChange]:
    """The changes, in which what nothing decided is no move."""
    even = shared_points(before) == shared_points(after)
    shuffled = {one.gang: one.decision for one in changes if _idle(one, even)}
    while forced := [
        key for key, one in shuffled.items() if one and not shuffled.keys() >= {*one.gangs}
    ]:
        for key in forced:
            del shuffled[key]
    for one in changes:
        yield replace(one, kind=ChangeKind.SHUFFLED) if one.gang in shuffled else one


def _idle(one: GangChange, even: bool) -> bool:
    """Whether both configs value both places alike, and likely gangs lose nothing by the move.

    Room that is kept at the other place in either plan only changed places with the gang, where
    it is worth as much (`even`) in both.
    """
    if one.decision is None or one.held is None:
        return False
    grounds = one.held.ground, one.decision.ground
    if DecidedBy.LAW in grounds or one.held.difference or one.decision.difference:
        return False
    return grounds[1] is not DecidedBy.ROOM or (even and grounds[0] is DecidedBy.ROOM)
