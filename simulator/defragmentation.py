"""Defragmentation in a replay: the solver moves gangs that run, so that others find room."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from fourleaf.model.gang import GangKey
from fourleaf.model.relocation import Budget
from fourleaf.model.validator import defrag_breaches
from fourleaf.simulator.plan_check import note
from fourleaf.simulator.policies.cpsat import CpSatPolicy
from fourleaf.simulator.recovery.protocol import Rescue
from fourleaf.simulator.recovery.steps import apply, standing_gang
from fourleaf.simulator.world import ReplayState


def defragment(world: ReplayState, solver: CpSatPolicy) -> None:
    """Move at most as many pods as the options allow; all gangs may move."""
    counts = world.record.counts
    running = world.cluster.running
    standing = tuple(standing_gang(one, True) for _, one in sorted(running.items()))
    waiting = [entry.gang for entry in world.waiting.values()]
    kept = world.kept.pods if world.kept is not None else ()
    snapshot = replace(
        world.cluster.snapshot(waiting, world.options.config, world.now, kept), standing=standing
    )
    budget = Budget(world.options.defragmentation.moves)
    plan = solver.defragment(snapshot, budget)
    counts.unproven += not plan.proven
    note(defrag_breaches(snapshot, plan, budget), counts)
    if not plan.moves:
        return
    owner = {pod: key for key, one in running.items() for pod, _ in one.pods}
    changes: dict[GangKey, dict[str, str]] = defaultdict(dict)
    for move in plan.moves:
        changes[owner[move.pod]][move.pod] = move.target
    moves = Counter(owner[move.pod] for move in plan.moves)
    apply(world, Rescue(changes, moves), set())
    world.freed()
