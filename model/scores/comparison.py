"""Two plans for the same gangs under two configs: who goes elsewhere, and what decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from model.extensions import Extensions
from model.gang import Gang, GangKey
from model.plan import Placement, Plan, Waiting
from model.scores.company import Company
from model.scores.decision import Decision, Ground, decide
from model.scores.terms import GangScore, Scorer
from model.snapshot import Snapshot
from model.validator.recompute import NOTHING


@dataclass(frozen=True, slots=True)
class Outcome:
    """A plan and the snapshot, with its config, that it is for."""

    snapshot: Snapshot
    plan: Plan


class Kind(StrEnum):
    """What becomes of a gang in the second plan."""

    SAME = "Same"
    MOVED = "Moved"
    NEWLY_PLACED = "NewlyPlaced"
    NEWLY_WAITING = "NewlyWaiting"
    STILL_WAITING = "StillWaiting"


@dataclass(frozen=True, slots=True)
class Change:
    """One gang in both plans.

    `before` and `after` are its places, empty where it waits. `decision` is set for gangs that
    move: both places valued under the second config. `waiting` is why it waits, after or else
    before.
    """

    gang: GangKey
    kind: Kind
    size: int
    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    decision: Decision | None = None
    waiting: Waiting | None = None


@dataclass(frozen=True, slots=True)
class TermTotal:
    """One term over all gangs placed: its mean `value` by their size, and its points."""

    value: float
    points: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both plans, what changes from gang to gang, and the totals of each term in both."""

    before: Outcome
    after: Outcome
    changes: tuple[Change, ...]
    terms_before: Mapping[str, TermTotal]
    terms_after: Mapping[str, TermTotal]

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """The gangs of which that becomes."""
        return tuple(change for change in self.changes if change.kind is kind)


def compare(before: Outcome, after: Outcome, extensions: Extensions = NOTHING) -> Comparison:
    """Put two plans side by side, gangs in the order of the first, then of the second."""
    return Comparison(
        before,
        after,
        tuple(_changes(before, after, extensions)),
        totals(before, extensions),
        totals(after, extensions),
    )


def totals(outcome: Outcome, extensions: Extensions = NOTHING) -> dict[str, TermTotal]:
    """Term -> its total over the gangs placed; all terms that are weighed have an entry."""
    scorer = Scorer(outcome.snapshot, extensions)
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


def _changes(before: Outcome, after: Outcome, extensions: Extensions) -> Iterator[Change]:
    old = {one.gang: one for one in before.plan.placements}
    new = {one.gang: one for one in after.plan.placements}
    waited = {one.gang: one for one in before.plan.waiting}
    waits = {one.gang: one for one in after.plan.waiting}
    gangs = {gang.key: gang for gang in (*before.snapshot.gangs, *after.snapshot.gangs)}
    mover = _Mover(after, extensions)
    for key in dict.fromkeys((*old, *waited, *new, *waits)):
        gang, waiting = gangs[key], waits.get(key) or waited.get(key)
        match old.get(key), new.get(key):
            case Placement() as first, Placement() as second:
                if set(first.pods) == set(second.pods):
                    yield Change(key, Kind.SAME, gang.weight, first.pods, second.pods)
                else:
                    yield mover.moved(gang, first, second)
            case Placement() as first, None:
                yield Change(
                    key, Kind.NEWLY_WAITING, gang.weight, before=first.pods, waiting=waiting
                )
            case None, Placement() as second:
                yield Change(
                    key, Kind.NEWLY_PLACED, gang.weight, after=second.pods, waiting=waiting
                )
            case _:
                yield Change(key, Kind.STILL_WAITING, gang.weight, waiting=waiting)


class _Mover:
    """Values both places of a gang under the second config, in the company of its plan."""

    def __init__(self, after: Outcome, extensions: Extensions) -> None:
        self._fabric = after.snapshot.fabric
        self._gangs = {gang.key: gang for gang in after.snapshot.gangs}
        self._scorer = Scorer(after.snapshot, extensions)
        self._company = Company(after.snapshot, after.plan, extensions)

    def moved(self, gang: Gang, first: Placement, second: Placement) -> Change:
        gang = self._gangs.get(gang.key, gang)
        decision = self._decided(gang, first, second)
        return Change(gang.key, Kind.MOVED, gang.weight, first.pods, second.pods, decision)

    def _decided(self, gang: Gang, first: Placement, second: Placement) -> Decision:
        known = all(node in self._fabric.nodes for _, node in first.pods)
        same = {pod for pod, _ in first.pods} == {pod for pod, _ in second.pods}
        if not (known and same) or self._company.forbids(gang, first.pods):
            return Decision(Ground.LAW, 0)
        here: GangScore = self._scorer.score(gang, second.pods)
        return decide(here, self._scorer.score(gang, first.pods), self._company)
