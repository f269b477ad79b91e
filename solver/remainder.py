"""What is left of a program where its variables have only some of their values left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.solver.cpsat import ENDLESS
from fourleaf.solver.program import UNBOUNDED, Program


@dataclass(frozen=True, slots=True)
class Remainder:
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


def remainder(
    program: Program, costs: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> Remainder:
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
            left.rows.append((kept, factors, low, top))
    return Remainder(
        ranges,
        free,
        left,
        [costs[variable] for variable in free],
        sum([cost * least for cost, (least, _) in zip(costs, ranges, strict=True)]),
    )
