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


def maximize(program: Program, objective: Sequence[int], clock: Clock, seed: int) -> Answer:
    """The best value of the objective (a coefficient per variable) in the time left."""
    if program.size < SMALL:
        return cpsat.maximize(program, objective, clock.left(), seed)
    relaxation = relax(program, objective, clock.left())
    if relaxation is None:
        return cpsat.maximize(program, objective, clock.left(), seed)
    limit = relaxation.bound // SCALE
    costs = sorted([abs(cost) for cost in relaxation.reduced])
    open_up_to = costs[min(OPEN, len(costs) - 1)]
    best: Answer | None = None
    while True:
        answer = _solve_open(program, objective, clock, seed, relaxation, open_up_to)
        if answer.values is None:
            if best is not None or open_up_to >= costs[-1] or not clock.left():
                break
            open_up_to = costs[-1]
            continue
        best = answer
        distance = relaxation.bound - answer.objective * SCALE
        if answer.proven and (distance <= open_up_to or open_up_to >= costs[-1]):
            return Answer(answer.values, True, answer.objective, answer.objective)
        if not answer.proven or not clock.left():
            break
        open_up_to = distance
    if best is None:
        return Answer(None, False, 0, limit)
    return Answer(best.values, best.objective >= limit, best.objective, limit)


def _solve_open(
    program: Program,
    objective: Sequence[int],
    clock: Clock,
    seed: int,
    relaxation: Relaxation,
    open_up_to: int,
) -> Answer:
    fixed: list[int | None] = [
        None if abs(cost) <= open_up_to else low if cost < 0 else high
        for cost, low, high in zip(relaxation.reduced, program.low, program.high, strict=True)
    ]
    return cpsat.maximize(program, objective, clock.left(), seed, fixed)
