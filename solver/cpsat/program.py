"""An integer program: variables with bounds, linear rows, one linear objective.

Plain data, so that it can be solved as a whole or with most variables fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Terms = list[tuple[int, int]]
"""(coefficient, variable) pairs of a linear expression."""

UNBOUNDED = -(1 << 62)
"""A row without a lower limit."""


@dataclass(frozen=True, slots=True)
class SolveResult:
    """What one solve knows. `values` by variable, `None` where no solution was found.

    `ranges`, by variable, hold the (least, most) of every answer that is better; only an unproven
    answer of limited work has them. `work` is what it took, in CP-SAT's deterministic seconds.
    """

    values: list[int] | None
    proven: bool
    objective: int
    bound: int
    ranges: list[tuple[int, int]] | None = None
    work: float = 0.0


class Row(NamedTuple):
    """`least <= sum of coefficients * variables <= most`; each variable stands once."""

    variables: list[int]
    coefficients: list[int]
    least: int
    most: int


class Program:
    """Integer variables 0..`high`, and rows `least <= sum of terms <= most`."""

    def __init__(self) -> None:
        self.high: list[int] = []
        self.rows: list[Row] = []

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.high)

    def variable(self, most: int) -> int:
        """A new integer variable in 0..`most`; returns its number."""
        self.high.append(most)
        return len(self.high) - 1

    def variables(self, most: Sequence[int]) -> range:
        """A new integer variable in 0..n for each n of `most`; returns their numbers."""
        self.high += most
        return range(len(self.high) - len(most), len(self.high))

    def row(self, terms: Terms, least: int, most: int) -> None:
        """`least <= sum of terms <= most`. Terms of one variable may stand several times."""
        variables, coefficients = collect(terms)
        self.rows.append(Row(variables, coefficients, least, most))

    def at_most(self, terms: Terms, most: int) -> None:
        """`sum of terms <= most`, left out where the variables' bounds imply it."""
        high = self.high
        if sum([c * high[variable] for c, variable in terms if c > 0]) > most:
            self.row(terms, UNBOUNDED, most)

    def equal(self, terms: Terms, value: int) -> None:
        """`sum of terms == value`."""
        self.row(terms, value, value)


def collect(terms: Terms) -> tuple[list[int], list[int]]:
    """Variables and coefficients, each variable once."""
    summed = {variable: coefficient for coefficient, variable in terms}
    if len(summed) < len(terms):
        summed = dict.fromkeys(summed, 0)
        for coefficient, variable in terms:
            summed[variable] += coefficient
    return list(summed), list(summed.values())


def costs_of(program: Program, terms: Iterable[tuple[int, int]]) -> list[int]:
    """A coefficient for every variable of the program."""
    costs = [0] * program.size
    for coefficient, variable in terms:
        costs[variable] += coefficient
    return costs
