"""What each kind of pod costs in room, where the whole mix is to be placed.

The configuration LP (Gilmore and Gomory, 1961): how many nodes of each shape hold which packing
of pods, so that the greatest weight of a demand is placed. Packings are generated as the LP's
prices ask for them. With y the duals of the demand, weight - y is what a pod costs in room; and
for any y >= 0

    sum over kinds of demand * y + sum over nodes of the best packing at prices weight - y

is a bound on what any placement reaches (weak duality), where packings round generously.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from ortools.linear_solver import pywraplp  # type: ignore[import-untyped]

from benchmarks.openb.load import WHOLE, Machine, Pod
from benchmarks.openb.packing import STEP, Packing

GAP = 5e-4
"""The LP ends this near to its bound."""
ROUNDS = 500
"""Rounds of generation, at most."""
SMOOTH = 0.7
"""Weight of the best duals so far: those of the LP itself jump (Wentges, 1997)."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The price in room of each kind of pod, where the mix asks for as many GPUs as said.

    `reached` is the weight that the LP places, `bound` what none exceeds; `bare` is the weight
    of all pods without GPUs, `capacity` that of all GPUs.
    """

    kinds: tuple[Pod, ...]
    room: tuple[float, ...]
    reached: float
    bound: float
    bare: float
    capacity: int

    @property
    def most_allocated(self) -> float:
        """The bound on the share of GPUs in use where no pod without GPUs is refused."""
        return min(1.0, (self.bound - self.bare) / self.capacity)


def prices(
    trace: Sequence[Pod],
    machines: Sequence[Machine],
    load: float,
    step: int = STEP,
    generous: bool = False,
) -> Prices:
    """Price the mix of `trace` where it asks for `load` times all GPUs of `machines`.

    `step` and `generous` as of `Packing`; a bound is one only where it is generous.
    """
    mix = Counter(trace)
    kinds = tuple(mix)
    asked = sum(pod.demand for pod in trace)
    capacity = WHOLE * sum(one.gpus for one in machines)
    demand = np.array([mix[kind] * load * capacity / asked for kind in kinds])
    weight = np.array([kind.weight for kind in kinds], dtype=float)
    shapes = Counter((one.cpu, one.gpus) for one in machines)
    master = _Master(demand, shapes)
    best, least = 0.1 * weight, np.inf
    duals = best
    for _ in range(ROUNDS):
        packing = Packing(kinds, weight - duals, step, generous)
        bound = float(demand @ duals)
        for (cpu, gpus), count in shapes.items():
            bound += count * packing.value(cpu, [WHOLE] * gpus)
            found = packing.best(cpu, gpus)
            master.add((cpu, gpus), found, sum(weight[i] * n for i, n in found.items()))
        if bound < least:
            least, best = bound, duals
        reached, y = master.solve()
        duals = SMOOTH * best + (1 - SMOOTH) * y
        if least <= reached * (1 + GAP):
            break
    bare = sum(n * kind.weight for n, kind in zip(demand, kinds, strict=True) if not kind.gpus)
    return Prices(kinds, tuple(weight - best), reached, least, float(bare), capacity)


class _Master:
    """The LP over the packings known so far."""

    def __init__(self, demand: Iterable[float], shapes: Counter[tuple[int, int]]) -> None:
        self._lp = pywraplp.Solver.CreateSolver("GLOP")
        self._lp.Objective().SetMaximization()
        endless = self._lp.infinity()
        self._kinds = [self._lp.Constraint(-endless, float(most)) for most in demand]
        self._shapes = {
            shape: self._lp.Constraint(-endless, float(n)) for shape, n in shapes.items()
        }

    def add(self, shape: tuple[int, int], packing: Counter[int], weight: float) -> None:
        """Let nodes of `shape` be packed so."""
        column = self._lp.NumVar(0, self._lp.infinity(), "")
        self._shapes[shape].SetCoefficient(column, 1)
        for kind, count in packing.items():
            self._kinds[kind].SetCoefficient(column, count)
        self._lp.Objective().SetCoefficient(column, float(weight))

    def solve(self) -> tuple[float, np.ndarray]:
        """The weight placed, and the duals of the demand."""
        self._lp.Solve()
        duals = np.array([max(0.0, row.dual_value()) for row in self._kinds])
        return self._lp.Objective().Value(), duals
