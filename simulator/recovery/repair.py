"""Repair by the solver: who lives, then the fewest moves, then the best places."""

from __future__ import annotations

from collections import Counter, defaultdict

from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import repair_breaches
from fourleaf.simulator.policies.cpsat import CpSatPolicy
from fourleaf.simulator.recovery.protocol import Rescue


class SolverRepair:
    """Asks the process of `solver`."""

    def __init__(self, solver: CpSatPolicy) -> None:
        self._solver = solver

    def rescue(self, snapshot: Snapshot) -> Rescue:
        """Solve for all gangs that were hit at once; others move where they are movable."""
        plan = self._solver.repair(snapshot)
        breaches = repair_breaches(snapshot, plan)
        owner = {
            pod: one.gang.key
            for one in snapshot.standing
            for role in one.gang.roles
            for pod, _ in role.bound
        }
        changes: dict[GangKey, dict[str, str]] = defaultdict(dict)
        moves: Counter[GangKey] = Counter()
        for placement in plan.placements:
            changes[placement.gang].update(placement.pods)
        for move in plan.moves:
            changes[owner[move.pod]][move.pod] = move.target
            moves[owner[move.pod]] += 1
        return Rescue(changes, moves, breaches, plan.proven)
