"""Ours: all pods of a cycle at once by CP-SAT, who and then where.

The solver's own program and parameters. Its laws know gangs of whole GPUs, so shares of a device
are modelled here: a cycle is solved in rounds in which a node takes at most one pod, so that what
a seat costs (`Phantoms`) is exact and adds up; the next round sees what this one left. First the
greatest weight placed, then, that being held, the least cost.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.openb.cluster import Cluster
from benchmarks.openb.load import Pod
from benchmarks.openb.policies.protocol import NO_ROOM, Costs, Kept, OneByOne
from fourleaf.solver.cpsat.backend import CpSat
from fourleaf.solver.cpsat.program import Program, Terms, costs_of

SPARE = 20
"""Nodes offered to a kind beyond its pods: others may want the same ones."""
SECONDS = 5.0
"""The most that a solve may take."""


class Batches:
    """Seats the pods of a cycle. `unproven` counts the solves that ran out of time."""

    def __init__(self, cluster: Cluster, costs: Costs) -> None:
        self.unproven = 0
        self._cluster = cluster
        self._kept = Kept(cluster, costs)
        self._one_by_one = OneByOne(cluster, costs)

    def place(self, pods: Sequence[Pod]) -> list[Pod]:
        """Solve rounds until nobody finds room."""
        left = Counter(pods)
        while left:
            seats = self._round(left)
            if seats is None:
                return self._one_by_one.place(list(left.elements()))
            if not seats:
                break
            for pod, node, device in seats:
                self._cluster.put(pod, node, device)
                left[pod] -= 1
            left = +left
        return list(left.elements())

    def _round(self, pods: Counter[Pod]) -> list[tuple[Pod, int, int]] | None:
        """One pod a node at most; `None` where the solver found nothing in time."""
        program = Program()
        offers: list[tuple[Pod, int, int]] = []
        prices: list[int] = []
        on_node: dict[int, Terms] = defaultdict(list)
        for pod, count in pods.items():
            costs, devices = self._kept.of(pod)
            order = np.argsort(costs, kind="stable")[: count + SPARE]
            nodes = [int(node) for node in order if costs[node] < NO_ROOM]
            terms: Terms = []
            for node in nodes:
                variable = program.variable(1)
                terms.append((1, variable))
                on_node[node].append((1, variable))
                offers.append((pod, node, int(devices[node])))
                prices.append(int(costs[node]))
            program.at_most(terms, count)
        if not offers:
            return []
        for terms in on_node.values():
            program.at_most(terms, 1)
        return self._solved(program, offers, prices)

    def _solved(
        self, program: Program, offers: list[tuple[Pod, int, int]], prices: list[int]
    ) -> list[tuple[Pod, int, int]] | None:
        """Decide who, then where."""
        model = CpSat(program, seed=0, scored=True)
        who = [(pod.weight, i) for i, (pod, _, _) in enumerate(offers)]
        placed = model.maximize(costs_of(program, who), SECONDS)
        if placed.values is None:
            self.unproven += 1
            return None
        model.hold(who, placed.objective)
        where = model.maximize([-price for price in prices], SECONDS)
        self.unproven += not (placed.proven and where.proven)
        values = where.values or placed.values
        return [offer for offer, chosen in zip(offers, values, strict=True) if chosen]
