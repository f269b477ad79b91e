"""Whether everything that can be bound is bound, as somebody who only looks at the end sees it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.kinds import (
    COSCHEDULING_POD_GROUPS,
    GPU_CLAIMS,
    NODES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
)
from fourleaf.k8s_bridge.cluster.memory.actors import OURS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.relocation.records import Purpose
from fourleaf.model.readers.live import LiveReader
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.batch.greedy import greedy_plan
from tests.simulation.controllers.owner import KINDS
from tests.simulation.jobs import bound, ended

READ = (
    NODES,
    PODS,
    *KINDS.values(),
    GPU_CLAIMS,
    COSCHEDULING_POD_GROUPS,
    STORAGE_CLASSES,
    VOLUMES,
    VOLUME_CLAIMS,
)
"""What is read of the store."""

if TYPE_CHECKING:
    from tests.simulation.world import World


def feasible(world: World) -> list[str]:
    """Gangs that wait although they fit, read anew from the store; none where all is bound.

    What is kept for others does not count as room.
    """
    leader = world.leader
    reader = LiveReader()
    if leader is not None and leader.scheduler is not None:
        reader.configure(leader.scheduler.config.state.config)
    for kind in READ:
        bodies = [record.listed() for record in world.store.records(kind)]
        reader.replace_all(kind.group, kind.name, bodies)
    snapshot = reader.reading(world.clock.wall()).snapshot
    moves = world.books.moves.values()
    kept = [
        RunningPod(one.gang.namespace, "kept", seat.node, seat.request)
        for one in moves
        for seat in one.seats
    ]
    own = {one.gang for one in moves if one.purpose is not Purpose.RESERVATION}
    snapshot = replace(
        snapshot,
        running=(*snapshot.running, *kept),
        gangs=tuple(gang for gang in snapshot.gangs if gang.key not in own),
    )
    return [str(placement.gang) for placement in greedy_plan(snapshot).placements]


def untold(world: World) -> list[str]:
    """The pods of ours that wait and do not say why."""
    return [
        record.metadata["name"]
        for record in world.store.records(PODS)
        if record.body["spec"]["schedulerName"] == OURS and not (bound(record) or ended(record))
        if "deletionTimestamp" not in record.metadata and not _says_why(record.body)
    ]


def _says_why(pod: Body) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(one["type"] == "PodScheduled" and one.get("message") for one in conditions)
