"""What a default scheduler does with a gang: the emptiest nodes, whatever leaf they are in.

The score of NodeResourcesFit with LeastAllocated, its default, over GPUs, CPU and memory:
the mean of free / allocatable after placing. Ties are broken at random, as there. A gang starts
whole or not at all, as with a PodGroup; first come, first served. The leaf rule is not known
here, and broken.
"""

from __future__ import annotations

import random

from fourleaf.model.gang import Gang
from fourleaf.model.node import Node
from fourleaf.model.plan import Plan
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.simulator.policies.earliest_start import Alone
from fourleaf.simulator.policies.one_by_one import arrival
from fourleaf.simulator.policies.plans import plan_of
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.forecast.earliest_start import earliest_start
from fourleaf.solver.forecast.timeline import Timeline

POINTS = 100
"""The most points of a node, as in the scheduler framework."""


class Spread:
    """Places pod after pod on the node with most points. `seed` decides ties."""

    scored = False

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)  # noqa: S311 - a tie, not a secret

    def decide(self, snapshot: Snapshot) -> Plan:
        """Place what finds room, in the order of arrival."""
        nodes = [node for node in snapshot.fabric.nodes.values() if node.schedulable]
        free = dict(snapshot.free)
        placed = {}
        for gang in sorted(select_batch(snapshot).batch, key=lambda gang: arrival(snapshot, gang)):
            found = self._seat(gang, nodes, free)
            if found is not None:
                placed[gang.key] = found
        return plan_of(snapshot, placed)

    def start(self, snapshot: Snapshot, gang: Gang) -> Start:
        """When the gang could start, by placing it alone."""
        return earliest_start(Timeline(snapshot), gang, Alone(self.decide))

    def close(self) -> None:
        """Holds nothing."""

    def _seat(self, gang: Gang, nodes: list[Node], free: dict[str, Resources]) -> list[str] | None:
        """Nodes for all pods of the gang, taken from `free`; `None`, and nothing is taken."""
        left: dict[str, Resources] = {}
        seats: list[str] = []
        standing = {node for role in gang.roles for _, node in role.bound}
        for role in gang.roles:
            barred = {*standing, *left} if gang.one_per_node else set()
            usable = [
                n
                for n in nodes
                if n.name not in barred
                and role.constraint.selects(n)
                and role.constraint.tolerates(n)
            ]
            scores = {
                node.name: _points(node, free[node.name], role.request)
                for node in usable
                if fits(left.get(node.name, free[node.name]), role.request)
            }
            order = {node.name: node for node in usable}
            for _ in role.pods:
                best = max(scores.values(), default=None)
                if best is None:
                    return None
                name = self._dice.choice(
                    [name for name, points in scores.items() if points == best]
                )
                seats.append(name)
                left[name] = minus(left.get(name, free[name]), role.request)
                if fits(left[name], role.request) and not gang.one_per_node:
                    scores[name] = _points(order[name], left[name], role.request)
                else:
                    del scores[name]
        free.update(left)
        return seats


def _points(node: Node, free: Resources, request: Resources) -> int:
    """The mean of what is left of each resource that the pod asks for, in whole points."""
    after = minus(free, request)
    pairs = [
        (after.gpus, node.allocatable.gpus) if request.gpus else None,
        (after.cpu or 0, node.allocatable.cpu) if request.cpu else None,
        (after.memory or 0, node.allocatable.memory) if request.memory else None,
    ]
    shares = [left * POINTS // whole for pair in pairs if pair for left, whole in [pair] if whole]
    return sum(shares) // len(shares) if shares else 0
