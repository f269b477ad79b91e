"""Room kept for the first gang that has waited for long, as the scheduler keeps it.

The place is the one where the gang can start first if no new gang comes. None comes there
but gangs that end before; once it is free, the gang starts on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.model.gang import Gang
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.snapshot import RunningPod
from fourleaf.simulator.policies.protocol import Policy
from fourleaf.simulator.world import ReplayState, Reservation
from fourleaf.solver.instance.gang_classes import gang_order

RESERVATION_SECONDS = 3600
"""Seconds after which a place is looked for anew: others may have become free by then."""
RETRY_SECONDS = 300
"""Seconds after which it is tried again where there was no place."""


def claim(world: ReplayState) -> None:
    """Start the gang that room is kept for, where all of its seats are free by now."""
    kept = world.kept
    if kept is None:
        return
    if world.cluster.holds(kept.pods):
        world.launch(kept.gang, kept.seats)
    elif world.now >= kept.expires:
        world.kept = None
        world.grew = True


def keep(world: ReplayState, policy: Policy) -> None:
    """Keep room for the first gang that has waited long enough, where none is kept."""
    backfill = world.options.backfill
    if not backfill.enabled or world.kept is not None or world.now < world.try_again:
        return
    old = [
        entry.gang
        for entry in world.waiting.values()
        if world.now - entry.gang.created >= backfill.after
    ]
    if not old:
        return
    first = min(old, key=gang_order)
    snapshot = world.cluster.snapshot((first,), world.options.config, world.now)
    start = policy.start(snapshot, first)
    if start.placement is None or start.at is None:
        world.try_again = world.now + RETRY_SECONDS
        return
    pods = _pods(first, start.placement.pods)
    world.kept = Reservation(
        first.key, start.placement.pods, pods, int(start.at), world.now + RESERVATION_SECONDS
    )
    world.record.counts.reservations += 1
    world.ask_at(world.now + RESERVATION_SECONDS)


def backfillers(world: ReplayState, plan: Plan) -> list[Gang]:
    """The gangs that `plan` leaves waiting and that end before kept room is needed."""
    kept = world.kept
    if kept is None:
        return []
    entries = [world.waiting[one.gang] for one in plan.waiting if one.gang != kept.gang]
    return [
        entry.gang
        for entry in entries
        if world.now + -(-(entry.left + entry.stall) // 1000) <= kept.starts
    ]


def seat_pods(world: ReplayState, placement: Placement) -> tuple[RunningPod, ...]:
    """The members of a placement as if they ran."""
    return _pods(world.waiting[placement.gang].gang, placement.pods)


def _pods(gang: Gang, seats: Sequence[tuple[str, str]]) -> tuple[RunningPod, ...]:
    requests = {pod: role.request for role in gang.roles for pod in role.pods}
    return tuple(
        RunningPod(gang.key.namespace, pod, node, requests[pod], gang.key, gang.priority)
        for pod, node in seats
    )
