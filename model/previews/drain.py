"""Nodes emptied: what is asked of the solver, and what its answer means."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move, Waiting
from fourleaf.model.previews.ended_jobs import EndedJob, JobSource, ended_jobs, lasting_jobs
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.running_gang import EvictionLimit, PodName, RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot

_MAY_NOT_GO = ReasonKind.EVICTIONS_FORBIDDEN


class GangSource(JobSource, Protocol):
    """A cluster at one moment, that can say how its gangs stand."""

    @property
    def snapshot(self) -> Snapshot:
        """All that a plan needs to know."""

    def standing(self, leaving: Container[str], everyone: bool) -> Sequence[StandingGang]:
        """The gangs that run, as they would stand without `leaving`; see `Reading.standing`."""

    def eviction_limits(self, pods: Iterable[PodName]) -> tuple[EvictionLimit, ...]:
        """What disruption budgets say of these pods."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What comes of emptying `nodes`: the plan, and by gang all pods that go elsewhere.

    `tied` are gangs without a place of which only lost members may move, or only within their
    spines. `unowned` are pods that move and that no controller makes anew. `others` are pods of
    other schedulers on these nodes, which stay. `staying` are gangs that the scheduler leaves where
    they are, each with its pods that no controller would make anew. `ended` are Jobs that end of
    the evictions. `promised` are gangs, each with the nodes on which places are kept for it, for
    which pods were told to go. Nothing is moved where `enabled` is false.
    """

    nodes: tuple[str, ...]
    plan: RepairPlan
    moves: dict[GangKey, tuple[Move, ...]]
    tied: dict[GangKey, RepairPolicy]
    unowned: tuple[str, ...]
    others: tuple[str, ...]
    enabled: bool
    staying: Mapping[GangKey, tuple[str, ...]] = field(default_factory=dict)
    ended: tuple[EndedJob, ...] = ()
    promised: Mapping[GangKey, tuple[str, ...]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the nodes come to be empty, and all that stood there goes on elsewhere."""
        return not (self.plan.lost or self.staying or self.ended or self.promised)

    @property
    def kept(self) -> tuple[Waiting, ...]:
        """The gangs that have another place, of which pods that would have to go may not."""
        return tuple(one for one in self.plan.lost if one.reason.kind is _MAY_NOT_GO)

    @property
    def placeless(self) -> tuple[Waiting, ...]:
        """The gangs that have no other place."""
        return tuple(one for one in self.plan.lost if one.reason.kind is not _MAY_NOT_GO)

    @property
    def count(self) -> int:
        """How many running pods go elsewhere."""
        return sum(bool(move.source) for moves in self.moves.values() for move in moves)


def emptied(reading: GangSource, nodes: Sequence[str], end_jobs: bool = False) -> Snapshot:
    """The snapshot in which all of ours on `nodes` is lost, and no pod may go there.

    No Job ends of it but, where `end_jobs`, those with pods on `nodes`. Disruption budgets count
    for each gang alone, as gangs leave one after another.
    """
    leaving = frozenset(nodes)
    snapshot = reading.snapshot
    at = {(pod.namespace, pod.name): pod.node for pod in snapshot.running}
    standing = [
        one
        for one in reading.standing(leaving, False)
        if (one.hit and _loses(one, at, leaving) and not any(_bare(reading, one, at)))
        or (one.movable and not one.hit)
    ]
    lost = {
        (one.gang.key.namespace, pod) for one in standing for r in one.gang.roles for pod in r.pods
    }
    members = [pod for one in standing for pod in one.members]
    ending = {pod for pod, node in at.items() if node in leaving} if end_jobs else ()
    return replace(
        snapshot,
        fabric=snapshot.fabric.with_nodes(
            lambda node: replace(node, cordoned=True) if node.name in leaving else node
        ),
        running=tuple(p for p in snapshot.running if (p.namespace, p.name) not in lost),
        gangs=(),
        standing=tuple(standing),
        eviction_limits=(
            *_in_turn(reading.eviction_limits(members), standing),
            *lasting_jobs(reading, members, ending),
        ),
    )


def _in_turn(
    limits: Iterable[EvictionLimit], standing: Iterable[StandingGang]
) -> Iterator[EvictionLimit]:
    """What disruption budgets allow of each gang alone.

    Gangs leave one after another: a budget allows as much again once those before run elsewhere.
    """
    gang_of = {pod: one.gang.key for one in standing for pod in one.members}
    for limit in limits:
        pods: dict[GangKey | None, set[PodName]] = {}
        for pod in limit.pods:
            pods.setdefault(gang_of.get(pod), set()).add(pod)
        yield from (replace(limit, pods=frozenset(some)) for some in pods.values())


def _loses(one: StandingGang, at: dict[tuple[str, str], str], leaving: frozenset[str]) -> bool:
    space = one.gang.key.namespace
    return any(at.get((space, pod)) in leaving for role in one.gang.roles for pod in role.pods)


def _bare(
    reading: GangSource, one: StandingGang, at: Mapping[tuple[str, str], str]
) -> Iterator[str]:
    """The pods of a gang that would have to go and that no controller makes anew."""
    space = one.gang.key.namespace
    bodies = reading.pods
    for pod in (pod for role in one.gang.roles for pod in role.pods):
        body = bodies.get((space, pod))
        if body and (space, pod) in at and not body["metadata"].get("ownerReferences"):
            yield pod


def _staying(
    reading: GangSource, nodes: Sequence[str], at: dict[tuple[str, str], str]
) -> Iterator[tuple[GangKey, tuple[str, ...]]]:
    """The gangs on `nodes` that the scheduler leaves there, with the pods that keep them."""
    leaving = frozenset(nodes)
    for one in reading.standing(leaving, False):
        if one.hit and _loses(one, at, leaving) and (pods := tuple(_bare(reading, one, at))):
            yield one.gang.key, pods


def _evicted(
    snapshot: Snapshot, plan: RepairPlan, moves: Mapping[GangKey, Sequence[Move]]
) -> Iterator[PodName]:
    """The pods that are evicted: those that move, and all of gangs that start over."""
    yield from ((m.namespace, m.pod) for some in moves.values() for m in some if m.source)
    for one in snapshot.standing:
        if one.gang.key in plan.restarts:
            yield from one.members


def drained(
    reading: GangSource, nodes: Sequence[str], snapshot: Snapshot, plan: RepairPlan
) -> Drained:
    """Put together what `plan`, made for `snapshot`, means for what was read."""
    running = reading.snapshot.running
    at = {(pod.namespace, pod.name): pod.node for pod in running}
    moves: dict[GangKey, list[Move]] = {}
    for placement in plan.placements:
        space = placement.gang.namespace
        for pod, node in placement.pods:
            source = at.get((space, pod), "")
            why = "its node is emptied" if source else "it waits for a node"
            moves.setdefault(placement.gang, []).append(Move(space, pod, source, node, why))
    owner = {pod: one for one in snapshot.standing for pod in one.live}
    for move in plan.moves:
        one = owner[move.namespace, move.pod]
        why = "it stays with its gang" if one.hit else "it makes room"
        moves.setdefault(one.gang.key, []).append(replace(move, why=why))
    lost = {one.gang for one in plan.lost}
    return Drained(
        tuple(nodes),
        plan,
        {key: tuple(moves[key]) for key in sorted(moves)},
        {
            one.gang.key: one.policy
            for one in snapshot.standing
            if one.gang.key in lost and one.policy is not RepairPolicy.MOVE
        },
        tuple(_unowned(reading, [move for some in moves.values() for move in some])),
        tuple(str(pod) for pod in running if not pod.ours and pod.node in set(nodes)),
        reading.snapshot.config.spec.repair.enabled,
        dict(_staying(reading, nodes, at)),
        ended_jobs(reading, _evicted(snapshot, plan, moves)),
    )


def _unowned(reading: GangSource, moves: Sequence[Move]) -> Iterator[str]:
    bodies = reading.pods
    for move in moves:
        body = bodies.get((move.namespace, move.pod))
        if body and move.source and not body.get("metadata", {}).get("ownerReferences"):
            yield f"{move.namespace}/{move.pod}"
