"""Room search: programs with large phantoms, by how many of these every spine has room for.

Nearly all of what the relaxation of such a program leaves in fractions are these numbers: a spine
with room for three quarters of a likely gang of 64 nodes counts three quarters of it. CP-SAT
branches on everything else as well and takes hundreds of milliseconds to prove little. So they are
branched on first, best bound first, by one relaxation after another, of which each takes a
millisecond; with all of them whole, the relaxation is nearly right, and a core of it has an answer
(`core_search.py`).

Where a branch asks for more than there is, its relaxation buys what is missing: so each has an
answer, and its prices prove what they prove without trust in rounded numbers.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul

from fourleaf.solver.cpsat.backend import ENDLESS
from fourleaf.solver.cpsat.core_search import (
    GRAIN,
    Effort,
    Priced,
    allowance,
    near_bound,
    near_relaxed,
    priced,
)
from fourleaf.solver.cpsat.gap_closing import (
    FIRST_SEARCH_VARIABLES,
    ReducedProgram,
    reduced_program,
)
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, Row, SolveResult
from fourleaf.solver.cpsat.relaxation import Relaxation, RelaxationSeries

MOST_RELAXATIONS = 300
"""Relaxations of one search; nine in ten end after fifty."""

NEARLY_WHOLE = 1e-6
"""So far from a whole number a count is still one."""

Ranges = dict[int, tuple[int, int]]
"""Variable -> (least, most) of the counts of phantoms."""


@dataclass(frozen=True, slots=True)
class _Branch:
    """Answers with the counts in `ranges`, and their relaxation, which is worth `value`."""

    ranges: Ranges
    relaxed: Relaxation
    value: int

    def unsettled(self, counts: Sequence[tuple[int, int]]) -> int | None:
        """Of the counts that are not whole, one of the largest phantoms; `None` without any."""
        parts = [(n, abs(x - round(x)), v) for n, v in counts for x in (self.relaxed.values[v],)]
        return max([part for part in parts if part[1] > NEARLY_WHOLE], default=(0, 0.0, None))[2]

    def split(self, variable: int) -> Iterator[Ranges]:
        """The branches below and above what the relaxation says of one count."""
        least, most = self.ranges[variable]
        below = math.floor(self.relaxed.values[variable])
        for part in ((least, below), (below + 1, most)):
            if part[0] <= part[1]:
                yield {**self.ranges, variable: part}

    def settled(self) -> Ranges:
        """The counts that the relaxation says, all whole."""
        counts = {v: round(self.relaxed.values[v]) for v in self.ranges}
        return {v: (n, n) for v, n in counts.items()}

    def others(self) -> Iterator[Ranges]:
        """The branches of all other counts, by the first that differs, below or above."""
        before: Ranges = {}
        for variable, (count, _) in self.settled().items():
            least, most = self.ranges[variable]
            for part in ((least, count - 1), (count + 1, most)):
                if part[0] <= part[1]:
                    yield {**self.ranges, **before, variable: part}
            before[variable] = (count, count)


class RoomSearch:
    """The search of one program. `effort` holds for the whole, its work for each core."""

    def __init__(
        self,
        program: Program,
        costs: Sequence[int],
        rooms: Sequence[tuple[int, int]],
        effort: Effort,
    ) -> None:
        self._program = program
        self._costs = costs
        self._effort = effort
        self._counts = rooms
        self._elastic, self._prices = _elastic(program, costs, rooms)
        self._series = RelaxationSeries(self._elastic, self._prices)
        self._values: list[int] | None = None
        self._objective: int | None = None
        self._open: list[tuple[int, int, _Branch]] = []
        self._closed: list[int] = []
        self._relaxations = 0
        self._work = effort.most_work * max(1.0, program.size / FIRST_SEARCH_VARIABLES)

    def run(self) -> SolveResult | None:
        """An answer within the gap of the best one, and its bound.

        Unproven where the time or the work ran out, a relaxation failed or there were too many
        branches. `None` where the first relaxation failed or no answer was found.
        """
        if not self._add({v: (0, self._program.high[v]) for _, v in self._counts}):
            return None
        while self._open and not self._exhausted():
            branch = heapq.heappop(self._open)[2]
            if not self._closes(branch):
                variable = branch.unsettled(self._counts)
                if variable is None:
                    self._settle(branch)
                if not self._closes(branch):
                    parts = branch.others() if variable is None else branch.split(variable)
                    if not all([self._add(part) for part in parts]):  # noqa: C419 - every part is added
                        self._closed.append(self._proof(branch).bound)
        if self._objective is None:
            return None
        open_ = [self._proof(branch).bound for _, _, branch in self._open]
        bound = max([self._objective, *self._closed, *open_])
        return SolveResult(self._values, self._close_enough(bound), self._objective, bound)

    def _exhausted(self) -> bool:
        out = self._work <= 0 or not self._effort.deadline.left()
        return out or self._relaxations >= MOST_RELAXATIONS

    def _close_enough(self, bound: int) -> bool:
        if self._objective is None:
            return False
        return bound - self._objective <= allowance(self._effort.gap, self._objective, bound)

    def _closes(self, branch: _Branch) -> bool:
        """Whether prices prove that a branch has nothing that is better by more than the gap."""
        if not self._close_enough(branch.value):
            return False
        bound = self._proof(branch).bound
        if self._close_enough(bound):
            self._closed.append(bound)
            return True
        return False

    def _proof(self, branch: _Branch) -> Priced:
        return priced(self._elastic, self._prices, branch.relaxed.prices, branch.ranges)

    def _add(self, ranges: Ranges) -> bool:
        """One more branch, unless it holds nothing better; whether its relaxation has an answer."""
        relaxed = self._series.solve(ranges, self._effort.deadline.left())
        self._relaxations += 1
        if relaxed is None:
            # What the last one left may lead nowhere: once more, from the beginning.
            self._series = RelaxationSeries(self._elastic, self._prices)
            relaxed = self._series.solve(ranges, self._effort.deadline.left())
        if relaxed is None:
            return False
        value = math.floor(sum(map(mul, relaxed.values, self._prices)) + NEARLY_WHOLE)
        branch = _Branch(ranges, relaxed, value)
        if not self._closes(branch):
            heapq.heappush(self._open, (-value, self._relaxations, branch))
        return True

    def _settle(self, branch: _Branch) -> None:
        """Look for an answer with the counts of a branch that is better than the best so far."""
        ranges = [(0, most) for most in self._program.high]
        for variable, pair in branch.settled().items():
            ranges[variable] = pair
        left = reduced_program(self._program, self._costs, ranges)
        full = self._proof(branch)
        proof = Priced(full.most - left.constant * GRAIN, [full.gains[v] for v in left.free])
        found = near_bound(
            left.program, left.costs, proof, self._effort, left.constant, self._known(left)
        )
        self._take(left, found)
        if not found.proven:
            relaxed = Relaxation([branch.relaxed.values[v] for v in left.free], [])
            rest = near_relaxed(
                left.program, left.costs, relaxed, proof, self._effort, left.constant,
                self._known(left),
            )  # fmt: skip
            if rest is not None:
                self._take(left, rest)
                found = rest
        if found.values is not None or not found.proven or self._objective is not None:
            self._closed.append(found.bound + left.constant)

    def _known(self, left: ReducedProgram) -> int | None:
        return None if self._objective is None else self._objective - left.constant

    def _take(self, left: ReducedProgram, found: SolveResult) -> None:
        self._work -= found.work
        if found.values is not None:
            self._values = left.whole(found.values)
            self._objective = found.objective + left.constant


def _elastic(
    program: Program, costs: Sequence[int], rooms: Sequence[tuple[int, int]]
) -> tuple[Program, list[int]]:
    """The program with all that rows ask of the counts to be had at a price, and its costs."""
    elastic = Program()
    elastic.high = list(program.high)
    elastic.rows = list(program.rows)
    counts = {variable for _, variable in rooms}
    for number, (variables, coefficients, least, most) in enumerate(program.rows):
        pairs = zip(variables, coefficients, strict=True)
        span = sum([abs(c) * program.high[v] for v, c in pairs if v in counts])
        if span:
            more = [1] * (least != UNBOUNDED) + [-1] * (most != ENDLESS)
            bought = elastic.variables([span] * len(more))
            elastic.rows[number] = Row([*variables, *bought], [*coefficients, *more], least, most)
    price = max(map(abs, costs), default=0)
    return elastic, [*costs, *[-price] * (elastic.size - program.size)]
