"""A node fails, a node returns: what becomes of the gangs, step by step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from fourleaf.model.gang import GangKey
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.node_failures import Outage
from fourleaf.simulator.options import Recovery
from fourleaf.simulator.plan_check import note
from fourleaf.simulator.policies.cpsat import CpSatPolicy
from fourleaf.simulator.policies.protocol import Policy
from fourleaf.simulator.recovery.patch import Patch
from fourleaf.simulator.recovery.protocol import Rescue, Rescuer
from fourleaf.simulator.recovery.repair import SolverRepair
from fourleaf.simulator.recovery.restart import Restart
from fourleaf.simulator.running_gang import FULL, Running
from fourleaf.simulator.world import ReplayState
from fourleaf.solver.batch.greedy import greedy_plan


def rescuer(recovery: Recovery, policy: Policy, solver: CpSatPolicy | None) -> Rescuer:
    """The way to recover that the options name; repair asks `solver`, whatever the policy.

    A policy patches as it places; CP-SAT, which proves and moves, has the greedy for that.
    Raises `ValueError` for repair without a solver.
    """
    match recovery:
        case Recovery.RESTART:
            return Restart()
        case Recovery.PATCH:
            return Patch(greedy_plan if isinstance(policy, CpSatPolicy) else policy.decide)
        case Recovery.REPAIR:
            if solver is None:
                raise ValueError("repair needs a solver")
            return SolverRepair(solver)


def fail(world: ReplayState, outage: Outage, ways: Rescuer) -> bool:
    """Let a node fail, and keep alive who can live. Whether it worked until now."""
    if outage.node in world.cluster.failed:
        return False
    counts = world.record.counts
    counts.failures += 1
    hit = world.cluster.fail(outage.node, world.now)
    if world.kept is not None and any(node == outage.node for _, node in world.kept.seats):
        world.kept = None
    # What a complete leaf is has changed as well.
    world.freed()
    if hit:
        _rescue(world, hit, ways)
    return True


def _rescue(world: ReplayState, hit: list[GangKey], ways: Rescuer) -> None:
    counts = world.record.counts
    for key in hit:
        _fall_back(world, world.cluster.running[key])
    rescue = ways.rescue(_snapshot(world, hit))
    counts.unproven += not rescue.proven
    note(rescue.breaches, counts)
    apply(world, rescue, set(hit))
    for key in hit:
        if key in rescue.changes:
            counts.kept += 1
        else:
            world.requeue(key)
    counts.hit += len(hit)


def apply(world: ReplayState, rescue: Rescue, hit: set[GangKey]) -> None:
    """Put the gangs of a rescue where it says: all that leave first, then all that come."""
    running = world.cluster.running
    seats = {key: _seats(running[key], changes) for key, changes in sorted(rescue.changes.items())}
    for key, new in seats.items():
        one = running[key]
        gone = [pod for pod, node in one.pods if (pod, node) not in new]
        if key not in hit:
            one.advance(world.now)
            _fall_back(world, one)
        world.cluster.vacate(key, world.now, gone)
    for key, new in seats.items():
        world.reseat(key, new)
        moved = rescue.moves.get(key, 0)
        world.record.gangs[running[key].job.name].moves += moved
        world.record.counts.moves += moved


def _seats(one: Running, changes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Where all members stand then, in rank order."""
    here = dict(one.pods)
    return tuple((pod, changes.get(pod) or here[pod]) for pod in one.requests)


def standing_gang(one: Running, movable: bool) -> StandingGang:
    """A gang that runs, as the model has it: who lives, and who was lost."""
    here = dict(one.pods)
    roles = tuple(
        replace(
            role,
            pods=tuple(pod for pod in role.pods if pod not in here),
            bound=tuple((pod, here[pod]) for pod in role.pods if pod in here),
        )
        for role in one.gang.roles
    )
    gang = replace(one.gang, roles=roles)
    return StandingGang(gang, movable=movable, policy=RepairPolicy.MOVE)


def _snapshot(world: ReplayState, hit: Collection[GangKey]) -> Snapshot:
    """The cluster with the gangs that were hit, and those that may move for them."""
    kept = world.kept.pods if world.kept is not None else ()
    movable = world.options.failures.movable
    standing = tuple(
        standing_gang(one, movable)
        for key, one in sorted(world.cluster.running.items())
        if movable or key in hit
    )
    snapshot = world.cluster.snapshot((), world.options.config, world.now, kept)
    return replace(snapshot, standing=standing)


def _fall_back(world: ReplayState, one: Running) -> None:
    """Go back to the last checkpoint, and stand still once all nodes are there again."""
    failures = world.options.failures
    line = world.record.gangs[one.job.name]
    # What is left of a standstill that goes on is not held a second time.
    line.stalled += (failures.restart * FULL - one.stall) * one.job.size
    line.lost += one.fall_back(failures.checkpoint * FULL, failures.restart * FULL) * one.job.size
