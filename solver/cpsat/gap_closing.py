"""Gap closing: the best answer where the first search left a gap between its best and the bound.

CP-SAT soon has a good answer and a bound close to the best one. What takes its time then is to
climb by small steps, in a program of which the gap has fixed most variables already; told what the
best answer is worth, it ends in a third of the time. So what the gap leaves is made a program of
its own, and its best answer is looked for in windows under the bound, the topmost first: that
nothing lies in a narrow window is shown quickly, and the first that holds an answer holds the best
one. Windows get wider while they are empty, and narrower, with more work, where one takes too long.

All limits are in deterministic time: the same input takes the same steps on every machine.

The second search works on a reduced program: what is left where the variables have only some of
their values left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.solver.cpsat.backend import ENDLESS, MANY_VARIABLES, CpSat
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, Row, SolveResult

FIRST_SEARCH_WORK = 0.05
"""Work of the first search: nine in ten programs of 1000 nodes need no more."""

FIRST_SEARCH_VARIABLES = 4000
"""Variables of a program for which that is meant; larger ones get more in proportion."""

FIRST_WINDOW_WORK = 0.06
"""Work of the first window; each that does not end gives the next half as much again."""

WINDOWS_PER_GAP = 8
"""The first window is this part of the gap."""

LEAST_WINDOW_POINTS = 4
"""Points that the first window has at least."""


def best_answer(
    program: Program,
    costs: Sequence[int],
    seed: int,
    uniform: bool,
    deadline: Deadline,
    most_work: float = math.inf,
) -> SolveResult:
    """The answer worth most by `costs` that is found in the time left, and its bound.

    An answer that is not proven after `most_work`, in the size of `FIRST_SEARCH_WORK`, is left so.
    """
    solver = CpSat(program, seed, scored=True, uniform=uniform)
    size = max(1.0, program.size / FIRST_SEARCH_VARIABLES)
    if program.size >= MANY_VARIABLES:
        limit = None if most_work == math.inf else most_work * size
        only = solver.maximize(costs, deadline.left(), limit)
        return only if only.values is not None else solver.maximize(costs, deadline.left())
    first = solver.maximize(costs, deadline.left(), FIRST_SEARCH_WORK * size)
    if first.proven:
        return first
    if first.values is None or first.ranges is None:
        return solver.maximize(costs, deadline.left())
    return climb(program, costs, first, seed, deadline, most_work=most_work * size - first.work)


def climb(
    program: Program,
    costs: Sequence[int],
    first: SolveResult,
    seed: int,
    deadline: Deadline,
    work: float = FIRST_WINDOW_WORK,
    most_work: float = math.inf,
) -> SolveResult:
    """The best answer, from an unproven one with `values` and `ranges`."""
    values, objective, bound = first.values, first.objective, first.bound
    left, solver = _left(program, costs, first.ranges or [], seed)
    width = max(LEAST_WINDOW_POINTS, (bound - objective) // WINDOWS_PER_GAP)
    while bound > objective and deadline.left() and most_work > 0.0:
        least = max(bound - width + 1, objective + 1)
        window = (least - left.constant, bound - left.constant)
        found = solver.maximize(left.costs, deadline.left(), min(work, most_work), window)
        most_work -= found.work
        if found.values is None and found.proven:
            bound, width = least - 1, 2 * width
            continue
        bound = min(bound, found.bound + left.constant)
        reached = least == objective + 1
        if found.values is not None:
            values, objective = left.whole(found.values), found.objective + left.constant
            reached = True
        if found.ranges is not None and reached:
            left, solver = _left(program, costs, left.within(found.ranges), seed)
        width, work = max(1, width // 2), 1.5 * work
    return SolveResult(values, bound == objective, objective, bound)


def _left(
    program: Program,
    costs: Sequence[int],
    ranges: Sequence[tuple[int, int]],
    seed: int,
) -> tuple[ReducedProgram, CpSat]:
    """What the ranges leave of the program, and a solver for it."""
    left = reduced_program(program, costs, ranges)
    return left, CpSat(left.program, seed, scored=True)


@dataclass(frozen=True, slots=True)
class ReducedProgram:
    """A program of the variables that still have a choice, each counted from its least value.

    `ranges` are (least, most) of every variable of the whole; `free` those that have a choice, in
    the order of the smaller program; `constant` is what all are worth at their least.
    """

    ranges: Sequence[tuple[int, int]]
    free: list[int]
    program: Program
    costs: list[int]
    constant: int

    def whole(self, values: Sequence[int]) -> list[int]:
        """The value of every variable of the whole, given those of the smaller program."""
        everything = [least for least, _ in self.ranges]
        for variable, value in zip(self.free, values, strict=True):
            everything[variable] += value
        return everything

    def within(self, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Ranges of the whole, given those of the smaller program."""
        everything = [(least, least) for least, _ in self.ranges]
        for variable, (low, high) in zip(self.free, ranges, strict=True):
            least, _ = self.ranges[variable]
            everything[variable] = (least + low, least + high)
        return everything


def reduced_program(
    program: Program, costs: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> ReducedProgram:
    """What is left of `program` within the ranges, without the rows that these imply."""
    left = Program()
    free = [variable for variable, (least, most) in enumerate(ranges) if least < most]
    number = {
        variable: left.variable(ranges[variable][1] - ranges[variable][0]) for variable in free
    }
    high = left.high
    for variables, coefficients, least, most in program.rows:
        base = 0
        kept: list[int] = []
        factors: list[int] = []
        lowest = highest = 0
        for variable, c in zip(variables, coefficients, strict=True):
            base += c * ranges[variable][0]
            new = number.get(variable)
            if new is None:
                continue
            kept.append(new)
            factors.append(c)
            if c > 0:
                highest += c * high[new]
            else:
                lowest += c * high[new]
        low = least if least == UNBOUNDED else least - base
        top = most if most == ENDLESS else most - base
        if lowest < low or highest > top:
            left.rows.append(Row(kept, factors, low, top))
    return ReducedProgram(
        ranges,
        free,
        left,
        [costs[variable] for variable in free],
        sum([cost * least for cost, (least, _) in zip(costs, ranges, strict=True)]),
    )
