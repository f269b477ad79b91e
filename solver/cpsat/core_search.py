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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fourleaf.solver.cpsat.backend import ENDLESS, CpSat
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.gap_closing import (
    FIRST_SEARCH_VARIABLES,
    FIRST_SEARCH_WORK,
    reduced_program,
)
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, SolveResult
from fourleaf.solver.cpsat.relaxation import Relaxation, relax

GRAIN = 1 << 10
"""Prices are counted in these parts of a point."""

IN_USE = 1e-9
"""A variable above it is used by the relaxation."""

CORE_PART = 8
"""One in so many variables joins those in use."""

WIDER = 3
"""A core without an answer gets so many times as many."""

RANGE_WORK = 0.04
"""Work in a range under the bound, in the size of `FIRST_SEARCH_WORK`."""

ANY = 1.0
"""A relative gap that any answer keeps."""

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


def priced(
    program: Program,
    costs: Sequence[int],
    prices: Sequence[float],
    ranges: Mapping[int, tuple[int, int]] | None = None,
) -> Priced:
    """The bound that any `prices` of the rows prove, and what each variable gains.

    With `ranges`, of all answers in which these variables are at (least, most).
    """
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
    for variable, (low, high) in (ranges or {}).items():
        gain = gains[variable]
        most += gain * (high - program.high[variable] if gain > 0 else low)
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
    return near_relaxed(
        program, costs, relaxed, proof, Effort(seed, uniform, deadline, gap, most_work)
    )


@dataclass(frozen=True, slots=True)
class Effort:
    """How a program is searched: the gap that is close enough, and what that may take."""

    seed: int
    uniform: bool
    deadline: Deadline
    gap: float
    most_work: float = math.inf


def near_relaxed(
    program: Program,
    costs: Sequence[int],
    relaxed: Relaxation,
    proof: Priced,
    effort: Effort,
    constant: int = 0,
    known: int | None = None,
) -> SolveResult | None:
    """The same for a program whose relaxation is solved already.

    Its answers are worth `constant` more where the gap counts. Where one elsewhere is `known` to be
    worth so much, only one that is better by more than the gap is looked for; `values` are `None`
    where there is none.
    """
    seed, uniform, deadline, gap = effort.seed, effort.uniform, effort.deadline, effort.gap
    most_work = effort.most_work * max(1.0, program.size / FIRST_SEARCH_VARIABLES)
    answer = _in_a_core(program, costs, relaxed, proof, seed, uniform, deadline, gap)
    values: list[int] | None = None
    objective, bound, work = known, proof.bound, 0.0
    if answer is not None:
        bound, work = min(bound, answer.bound), answer.work
        if answer.values is not None and (known is None or answer.objective > known):
            values, objective = answer.values, answer.objective
    if objective is None:
        return answer if answer is not None and answer.proven else None
    bound = max(objective, bound)
    while bound - objective > (allowed := allowance(gap, objective + constant, bound + constant)):
        if most_work <= work or not deadline.left():
            return SolveResult(values, False, objective, bound, work=work)
        least = objective + allowed + 1
        left = reduced_program(program, costs, proof.ranges(program, least))
        rest = CpSat(left.program, seed, scored=True, uniform=uniform, deep=True)
        found = rest.maximize(
            left.costs,
            deadline.left(),
            None if most_work == math.inf else most_work - work,
            (least - left.constant, bound - left.constant),
            gap / 2,
        )
        work += found.work
        if found.values is None and found.proven:
            bound = least - 1
            break
        bound = min(bound, max(least - 1, found.bound + left.constant))
        if found.values is None:
            return SolveResult(values, False, objective, bound, work=work)
        values, objective = left.whole(found.values), found.objective + left.constant
    return SolveResult(values, True, objective, bound, work=work)


def near_bound(
    program: Program,
    costs: Sequence[int],
    proof: Priced,
    effort: Effort,
    constant: int = 0,
    known: int | None = None,
) -> SolveResult:
    """The same where the relaxation is worth hardly more than the best answer: from the top.

    Answers within the gap of the bound use few variables, those that lose next to nothing. Any of
    these will do; where there is none, the bound falls and the range doubles. Unproven where a
    range takes more than its work; proven and without `values` where there is nothing better than
    what is `known`, or nothing at all.
    """
    objective, bound, work = known, proof.bound, 0.0
    values: list[int] | None = None
    least, width = bound, allowance(effort.gap, bound + constant, bound + constant)
    lowest = sum([cost * high for cost, high in zip(costs, program.high, strict=True) if cost < 0])
    limit = RANGE_WORK * max(1.0, program.size / FIRST_SEARCH_VARIABLES)
    while objective is not None or least >= lowest:
        least = bound - width
        if objective is not None:
            allowed = allowance(effort.gap, objective + constant, bound + constant)
            if bound - objective <= allowed:
                return SolveResult(values, True, objective, bound, work=work)
            least = max(least, objective + allowed + 1)
        left = reduced_program(program, costs, proof.ranges(program, least))
        window = (least - left.constant, bound - left.constant)
        solver = CpSat(left.program, effort.seed, scored=True, uniform=effort.uniform)
        found = solver.maximize(left.costs, effort.deadline.left(), limit, window, ANY)
        work += found.work
        if found.values is not None:
            values, objective = left.whole(found.values), found.objective + left.constant
            bound = max(objective, min(bound, found.bound + left.constant))
        elif found.proven:
            bound, width = least - 1, 2 * width + 1
        else:
            return SolveResult(values, False, objective or 0, bound, work=work)
    return SolveResult(None, True, 0, bound, work=work)


def allowance(gap: float, objective: int, bound: int) -> int:
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
        if everything and found.proven:
            return SolveResult(None, True, 0, 0, work=work)
        if everything or not deadline.left():
            return None
        keep *= WIDER
