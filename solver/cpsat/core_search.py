"""Core search: large programs by their relaxation, a core of it, and what could still be better.

The relaxation of a large program is solved in a tenth of the time that CP-SAT takes for its first
answer, and is worth little more than the best answer. It yields

- a bound: with any prices of the rows, no answer is worth more than the rows' limits at these
  prices plus what every variable gains beyond them. It is worked out in integers, so no rounding
  of the relaxation can make it wrong;
- a core: the variables that it uses, and those that would cost least to use. CP-SAT soon has an
  answer in a core, which is one of the whole program;
- what could still be better: a variable that loses more than what is left between answer and
  bound cannot be part of a better answer. The rest is searched in one window, for an answer that
  is better by more than the gap; mostly there is none, which is shown at the root.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.solver.cpsat.backend import ENDLESS, CpSat, Relaxation, relax
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.gap_closing import (
    FIRST_SEARCH_VARIABLES,
    FIRST_SEARCH_WORK,
    reduced_program,
)
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, SolveResult

GRAIN = 1 << 10
"""Prices are counted in these parts of a point."""

IN_USE = 1e-9
"""A variable above it is used by the relaxation."""

CORE_PART = 8
"""One in so many variables joins those in use."""

WIDER = 3
"""A core without an answer gets so many times as many."""

CORE_WORK = 1e-4
"""Work in a core, in CP-SAT's deterministic seconds for each of its variables."""


@dataclass(frozen=True, slots=True)
class Priced:
    """What prices of the rows prove of a program, in parts of a point (`GRAIN`).

    `most` bounds every answer; `gains` are what one more of each variable is worth beyond what it
    takes of the rows: an answer is worth less by each gain that it leaves, and each loss it takes.
    """

    most: int
    gains: list[int]

    @property
    def bound(self) -> int:
        """What no answer exceeds, in points."""
        return self.most // GRAIN

    def ranges(self, program: Program, least: int) -> list[tuple[int, int]]:
        """The (least, most) of every variable in answers worth `least` or more."""
        slack = self.most - least * GRAIN
        out = []
        for gain, high in zip(self.gains, program.high, strict=True):
            off = min(high, slack // abs(gain)) if gain else high
            out.append((high - off, high) if gain > 0 else (0, off))
        return out


def priced(program: Program, costs: Sequence[int], prices: Sequence[float]) -> Priced:
    """The bound that any `prices` of the rows prove, and what each variable gains."""
    gains = [cost * GRAIN for cost in costs]
    most = 0
    for (variables, coefficients, least, top), price in zip(program.rows, prices, strict=True):
        each = round(price * GRAIN)
        limit = top if each > 0 else least
        if each and limit not in (UNBOUNDED, ENDLESS):
            most += each * limit
            for variable, c in zip(variables, coefficients, strict=True):
                gains[variable] -= each * c
    most += sum([g * high for g, high in zip(gains, program.high, strict=True) if g > 0])
    return Priced(most, gains)


def near_best(
    program: Program,
    costs: Sequence[int],
    seed: int,
    uniform: bool,
    deadline: Deadline,
    gap: float,
    most_work: float = math.inf,
) -> SolveResult | None:
    """An answer within the relative `gap` of the best one, and its bound; the best one for 0.

    Unproven where the time ran out, or `most_work` (in the size that `best_answer` takes). `None`
    where the relaxation or every core is without an answer.
    """
    relaxed = relax(program, costs, deadline.left()) if program.size else None
    if relaxed is None:
        return None
    proof = priced(program, costs, relaxed.prices)
    most_work *= max(1.0, program.size / FIRST_SEARCH_VARIABLES)
    answer = _in_a_core(program, costs, relaxed, proof, seed, uniform, deadline, gap)
    if answer is None or answer.values is None:
        return None
    values, objective = answer.values, answer.objective
    bound = max(objective, min(proof.bound, answer.bound))
    most_work -= answer.work
    while bound - objective > (allowed := _allowed(gap, objective, bound)):
        if most_work <= 0 or not deadline.left():
            return SolveResult(values, False, objective, bound)
        least = objective + allowed + 1
        left = reduced_program(program, costs, proof.ranges(program, least))
        rest = CpSat(left.program, seed, scored=True, uniform=uniform, deep=True)
        found = rest.maximize(
            left.costs,
            deadline.left(),
            None if most_work == math.inf else most_work,
            (least - left.constant, bound - left.constant),
            gap / 2,
        )
        most_work -= found.work
        if found.values is None and found.proven:
            bound = least - 1
            break
        bound = min(bound, max(least - 1, found.bound + left.constant))
        if found.values is None:
            return SolveResult(values, False, objective, bound)
        values, objective = left.whole(found.values), found.objective + left.constant
    return SolveResult(values, True, objective, bound)


def _allowed(gap: float, objective: int, bound: int) -> int:
    """How far below `bound` an answer may be, as a share of what the best one is worth.

    That lies between the two, so what is nearer to 0 of them counts, and nothing where 0 lies
    between.
    """
    return int(gap * min(abs(objective), abs(bound))) if objective * bound > 0 else 0


def _in_a_core(
    program: Program,
    costs: Sequence[int],
    relaxed: Relaxation,
    proof: Priced,
    seed: int,
    uniform: bool,
    deadline: Deadline,
    gap: float,
) -> SolveResult | None:
    """The best answer found in a core, told of the whole program.

    Its bound is that of the whole program: of a core it says nothing, unless that has grown to all.
    """
    used = [value > IN_USE for value in relaxed.values]
    rest = sorted([v for v in range(program.size) if not used[v]], key=lambda v: -proof.gains[v])
    keep, work = max(1, program.size // CORE_PART), 0.0
    while True:
        for variable in rest[:keep]:
            used[variable] = True
        ranges = [(0, high if kept else 0) for high, kept in zip(program.high, used, strict=True)]
        core = reduced_program(program, costs, ranges)
        search = CpSat(core.program, seed, scored=True, uniform=uniform, deep=True)
        limit = max(FIRST_SEARCH_WORK, CORE_WORK * core.program.size)
        found = search.maximize(core.costs, deadline.left(), limit, gap=gap / 2)
        work += found.work
        everything = keep >= len(rest)
        if found.values is not None:
            bound = found.bound + core.constant if everything else ENDLESS
            objective = found.objective + core.constant
            return SolveResult(core.whole(found.values), False, objective, bound, work=work)
        if everything or not deadline.left():
            return None
        keep *= WIDER
