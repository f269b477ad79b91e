"""Nodes emptied: where the repair would bring the gangs on them, and what there is to plan then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourleaf.dashboard.solver_pool import SolverPool
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.views.gang import unbound
from fourleaf.dashboard.views.moves_picture import with_moved
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.previews.drain import Drained, drained, emptied
from fourleaf.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Emptied:
    """What comes of emptying nodes, and by key the gangs that start over, whole, in the queue."""

    drained: Drained
    restarts: dict[GangKey, Gang]


async def emptying(moment: ClusterMoment, pool: SolverPool, nodes: Sequence[str]) -> Emptied:
    """Let the repair empty `nodes`. Raises `BusyError`."""
    snapshot = emptied(moment, nodes)
    plan = await pool.repair(snapshot)
    over = {one.gang.key: unbound(one.gang) for one in snapshot.standing}
    restarts = {key: over[key] for key in plan.restarts}
    return Emptied(drained(moment, nodes, snapshot, plan), restarts)


def afterwards(snapshot: Snapshot, gone: Emptied) -> Snapshot:
    """`snapshot` once gangs with another place stand there, and those that start over wait.

    Gangs without another place stay in it where they are, and so do all where repair is off. Which
    devices a pod gets on its new node is not known.
    """
    if not gone.drained.enabled:
        return snapshot
    targets = {
        (move.namespace, move.pod): move.target
        for moves in gone.drained.moves.values()
        for move in moves
        if move.source
    }
    moved = with_moved(snapshot, targets)
    running = tuple(pod for pod in moved.running if pod.gang not in gone.restarts)
    waits = (_bound(one, targets) for one in snapshot.gangs if one.key not in gone.restarts)
    return replace(snapshot, running=running, gangs=(*waits, *gone.restarts.values()))


def _bound(gang: Gang, targets: dict[tuple[str, str], str]) -> Gang:
    """`gang` with the members that run already where they are now."""
    space = gang.key.namespace
    roles = (
        replace(
            role, bound=tuple((pod, targets.get((space, pod), node)) for pod, node in role.bound)
        )
        for role in gang.roles
    )
    return replace(gang, roles=tuple(roles))
