"""What every gang earns at its place, what it would earn at the next best, and what decided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.scores.decision import Decision, decide
from fourleaf.model.scores.other_places import OtherPlaces
from fourleaf.model.scores.terms import GangScore, TermScores
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.explain.best_alone import BestAlone


class PlacementState(StrEnum):
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
    state: PlacementState
    score: GangScore | None = None
    other: GangScore | None = None
    decision: Decision | None = None
    waiting: Waiting | None = None


def appraise(
    snapshot: Snapshot,
    plan: Plan,
    standing: Collection[StandingGang],
    extensions: Extensions,
    wanted: Callable[[GangKey], bool],
    thorough: bool = True,
) -> Iterator[Appraisal]:
    """The gangs of `plan`, those `standing` that are whole, and those that wait, in this order.

    `plan` is for `snapshot`; only the gangs that are `wanted`. Other places of gangs that run
    are looked for only if `thorough`: each means to look at the cluster anew, without it.
    """
    gangs = {gang.key: gang for gang in snapshot.gangs}
    company = OtherPlaces(snapshot, plan, extensions)
    scorer, alternatives = TermScores(snapshot, extensions), BestAlone(snapshot, extensions)
    for placement in plan.placements:
        if wanted(placement.gang):
            gang = gangs[placement.gang]
            here = scorer.score(gang, placement.pods)
            yield _placed(here, PlacementState.PLACED_NOW, scorer, alternatives, company)
    for one in standing:
        if wanted(one.gang.key) and one.gang.key not in gangs:
            yield _running(snapshot, one.gang, extensions, thorough)
    for waiting in plan.waiting:
        if wanted(waiting.gang):
            yield Appraisal(gangs[waiting.gang], PlacementState.WAITING, waiting=waiting)


def _placed(
    here: GangScore,
    state: PlacementState,
    scorer: TermScores,
    alternatives: BestAlone,
    company: OtherPlaces | None,
) -> Appraisal:
    pods = alternatives.best(here.gang, here.pods)
    if pods is None:
        return Appraisal(here.gang, state, here)
    other = scorer.score(here.gang, pods)
    return Appraisal(here.gang, state, here, other, decide(here, other, company))


def _running(snapshot: Snapshot, gang: Gang, extensions: Extensions, thorough: bool) -> Appraisal:
    """A gang that runs, valued as if it were to be placed where it is now."""
    pods = tuple(bound for role in gang.roles for bound in role.bound)
    if any(node not in snapshot.fabric.nodes for _, node in pods):
        return Appraisal(gang, PlacementState.PLACED)
    before, anew = unplaced(snapshot if thorough else _around(snapshot, pods), gang)
    scorer = TermScores(before, extensions)
    here = scorer.score(anew, pods)
    if not thorough:
        return Appraisal(gang, PlacementState.PLACED, here)
    return _placed(here, PlacementState.PLACED, scorer, BestAlone(before, extensions), None)


def _around(snapshot: Snapshot, pods: Sequence[tuple[str, str]]) -> Snapshot:
    """The snapshot with what runs in the leaves of `pods` alone: no score looks further."""
    fabric = snapshot.fabric
    leaves = {fabric.leaf_of[node] for _, node in pods}
    names = {node.name for leaf in leaves for node in fabric.leaves[leaf].nodes}
    running = tuple(pod for node in sorted(names) for pod in snapshot.on_node.get(node, ()))
    return replace(snapshot, running=running)


def unplaced(snapshot: Snapshot, gang: Gang) -> tuple[Snapshot, Gang]:
    """The snapshot in which the members of `gang` that run would wait alone, and that gang."""
    roles = tuple(
        replace(role, pods=tuple(name for name, _ in role.bound), bound=()) for role in gang.roles
    )
    anew = replace(gang, roles=roles)
    gone = {(gang.key.namespace, name) for role in roles for name in role.pods}
    running = tuple(p for p in snapshot.running if (p.namespace, p.name) not in gone)
    return replace(snapshot, running=running, gangs=(anew,), standing=()), anew
