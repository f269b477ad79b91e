"""Whether everything that can be bound is bound, as somebody who only looks at the end sees it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS, GPU_CLAIMS, NODES, PODS
from fourleaf.k8s_bridge.relocation.records import Purpose
from fourleaf.model.readers.live import LiveReader
from fourleaf.model.snapshot import RunningPod
from fourleaf.solver.batch.greedy import greedy_plan

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
    for kind in (NODES, PODS, GPU_CLAIMS, COSCHEDULING_POD_GROUPS):
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
