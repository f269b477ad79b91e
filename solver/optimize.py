"""Proving the best answer quickly: relax, fix what cannot matter, prove the rest.

The LP of a placement is nearly integral, so few variables stay open once its reduced
costs are known. First the variables with the smallest reduced costs are solved exactly.
If none of the fixed ones could beat the result (its distance to the LP bound is below
every fixed reduced cost), it is the optimum. Otherwise exactly those that could are
opened, and the second answer is the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence

from solver import cpsat
from solver.clock import Clock
from solver.program import Answer, Program
from solver.relaxation import SCALE, Relaxation, relax

SMALL = 300
"""Programs of fewer variables are solved whole."""

OPEN = 400
"""How many variables the first attempt leaves open at least."""

GROWTH = 2
"""How many times as many the next attempt leaves open."""


def maximize(program: Program, objective: Sequence[int], clock: Clock, seed: int) -> Answer:
    """The best value of the objective (a coefficient per variable) in the time left."""
    if program.size < SMALL:
        return cpsat.maximize(program, objective, clock.left(), seed)
    relaxation = relax(program, objective, clock.left())
    if relaxation is None:
        return cpsat.maximize(program, objective, clock.left(), seed)
    limit = relaxation.bound // SCALE
    costs = sorted([abs(cost) for cost in relaxation.reduced])
    count = OPEN
    best: Answer | None = None
    while True:
        count = min(count, len(costs) - 1)
        open_up_to = costs[count]
        if best is not None:
            open_up_to = min(open_up_to, relaxation.bound - best.objective * SCALE)
        fixed = _fixed(program, relaxation, open_up_to)
        answer = cpsat.maximize(program, objective, clock.left(), seed, fixed)
        if answer.values is not None:
            best = answer
        if not answer.proven:
            break
        if best is not None and relaxation.bound - best.objective * SCALE <= open_up_to:
            return Answer(best.values, True, best.objective, best.objective)
        if open_up_to >= costs[-1]:
            break
        count *= GROWTH
    if best is None:
        return Answer(None, False, 0, limit)
    proven = answer.proven or best.objective >= limit
    return Answer(best.values, proven, best.objective, best.objective if proven else limit)


def _fixed(program: Program, relaxation: Relaxation, open_up_to: int) -> list[int | None]:
    """The better end of every variable whose reduced cost is above `open_up_to`."""
    return [
        None if -open_up_to <= cost <= open_up_to else low if cost < 0 else high
        for cost, low, high in zip(relaxation.reduced, program.low, program.high, strict=True)
    ]
