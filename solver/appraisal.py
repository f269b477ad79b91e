"""What every gang earns at its place, what it would earn at the next best, and what decided."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from model.extensions import Extensions
from model.gang import Gang, GangKey
from model.plan import Plan, Waiting
from model.scores.company import Company
from model.scores.decision import Decision, decide
from model.scores.terms import GangScore, Scorer
from model.snapshot import Snapshot
from model.standing import StandingGang
from solver.alternatives import Alternatives


class State(StrEnum):
    """Where a gang is: placed by the plan, running, or without a place."""

    PLACED_NOW = "PlacedNow"
    PLACED = "Placed"
    WAITING = "Waiting"


@dataclass(frozen=True, slots=True)
class Appraisal:
    """One gang. `other` is its best place in other leaves, as if it were placed alone.

    A gang that waits has no scores; one that runs on a node that the fabric has lost neither.
    """

    gang: Gang
    state: State
    score: GangScore | None = None
    other: GangScore | None = None
    decision: Decision | None = None
    waiting: Waiting | None = None


def appraise(
    snapshot: Snapshot,
    plan: Plan,
    standing: Collection[StandingGang],
    extensions: Extensions,
    wanted: GangKey | None = None,
) -> Iterator[Appraisal]:
    """The gangs of `plan`, those `standing` that are whole, and those that wait, in this order.

    `plan` is for `snapshot`; only the gang `wanted`, where one is.
    """
    gangs = {gang.key: gang for gang in snapshot.gangs}
    company = Company(snapshot, plan, extensions)
    scorer, alternatives = Scorer(snapshot, extensions), Alternatives(snapshot, extensions)
    for placement in plan.placements:
        if wanted in (None, placement.gang):
            gang = gangs[placement.gang]
            here = scorer.score(gang, placement.pods)
            yield _placed(here, State.PLACED_NOW, scorer, alternatives, company)
    for one in standing:
        if wanted in (None, one.gang.key) and one.gang.key not in gangs:
            yield _running(snapshot, one.gang, extensions)
    for waiting in plan.waiting:
        if wanted in (None, waiting.gang):
            yield Appraisal(gangs[waiting.gang], State.WAITING, waiting=waiting)


def _placed(
    here: GangScore,
    state: State,
    scorer: Scorer,
    alternatives: Alternatives,
    company: Company | None,
) -> Appraisal:
    pods = alternatives.best(here.gang, here.pods)
    if pods is None:
        return Appraisal(here.gang, state, here)
    other = scorer.score(here.gang, pods)
    return Appraisal(here.gang, state, here, other, decide(here, other, company))


def _running(snapshot: Snapshot, gang: Gang, extensions: Extensions) -> Appraisal:
    """A gang that runs, valued as if it were to be placed where it is now."""
    pods = tuple(bound for role in gang.roles for bound in role.bound)
    if any(node not in snapshot.fabric.nodes for _, node in pods):
        return Appraisal(gang, State.PLACED)
    before, anew = unplaced(snapshot, gang)
    scorer = Scorer(before, extensions)
    alternatives = Alternatives(before, extensions)
    return _placed(scorer.score(anew, pods), State.PLACED, scorer, alternatives, None)


def unplaced(snapshot: Snapshot, gang: Gang) -> tuple[Snapshot, Gang]:
    """The snapshot in which the members of `gang` that run would wait alone, and that gang."""
    roles = tuple(
        replace(role, pods=tuple(name for name, _ in role.bound), bound=()) for role in gang.roles
    )
    anew = replace(gang, roles=roles)
    gone = {(gang.key.namespace, name) for role in roles for name in role.pods}
    running = tuple(p for p in snapshot.running if (p.namespace, p.name) not in gone)
    return replace(snapshot, running=running, gangs=(anew,), standing=()), anew
