"""One cycle: who is asked about, what the policy says, and what is done."""

from __future__ import annotations

from fourleaf.model.gang import Gang
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.plan_check import inspect
from fourleaf.simulator.policies.protocol import Policy
from fourleaf.simulator.reservation import backfillers, claim, keep, seat_pods
from fourleaf.simulator.world import ReplayState


def cycle(world: ReplayState, policy: Policy) -> None:
    """Ask the policy once, and start what it places."""
    world.cycles.discard(world.now)
    claim(world)
    kept = world.kept
    gangs = _batch(world)
    if gangs:
        seats = kept.pods if kept is not None else ()
        snapshot = world.cluster.snapshot(gangs, world.options.config, world.now, seats)
        plan = _asked(world, policy, snapshot)
        _backfill(world, policy, plan)
        for placement in plan.placements:
            world.launch(placement.gang, placement.pods)
    world.news.clear()
    world.grew = len(gangs) > world.options.config.spec.batch.size
    if world.kept is not kept:
        # Its gang has started elsewhere.
        world.freed()
    keep(world, policy)


def _batch(world: ReplayState) -> list[Gang]:
    """The gangs worth asking about: all where room was freed, else those that are new.

    A gang that was left waiting would be left again with no more room than before.
    """
    if world.grew:
        return [entry.gang for entry in world.waiting.values()]
    return [world.waiting[key].gang for key in world.waiting if key in world.news]


def _asked(world: ReplayState, policy: Policy, snapshot: Snapshot) -> Plan:
    plan = policy.decide(snapshot)
    world.record.counts.cycles += 1
    inspect(snapshot, plan, policy.scored, world.record.counts)
    return plan


def _backfill(world: ReplayState, policy: Policy, plan: Plan) -> None:
    """Let gangs that end in time use the room that is kept for another."""
    short = backfillers(world, plan)
    if not short:
        return
    there = [seat for one in plan.placements for seat in seat_pods(world, one)]
    again = world.cluster.snapshot(short, world.options.config, world.now, there)
    placed: tuple[Placement, ...] = _asked(world, policy, again).placements
    for placement in placed:
        world.launch(placement.gang, placement.pods)
    world.record.counts.backfilled += len(placed)
