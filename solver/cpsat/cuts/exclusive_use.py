"""Exclusive use: a variable says whether a gang is there that leaves no room for any other.

In a row `sum of c * x <= most`, a variable with `most - (the least c) < c <= most` leaves no room
for any other of the row, its like included: at most one of these is 1, and then all others are 0.
Their sum is a variable of its own here, which stands for them in the row with the coefficient
`most`. No answer is lost and none is added. The search can then decide first whether a leaf goes
to one gang or is shared, and only after that to which, and cuts have fewer terms.
"""

from __future__ import annotations

from fourleaf.solver.cpsat.program import UNBOUNDED, Program, Row


def add_exclusive_use(program: Program) -> None:
    """A variable for each set of two or more that exclude all else in a row, in all its rows."""
    alone: dict[tuple[int, ...], int] = {}
    for number, (variables, coefficients, least, most) in enumerate(program.rows):
        if least != UNBOUNDED or len(variables) < 3:
            continue
        smallest = min(coefficients)
        above = most - smallest
        if smallest <= 0 or max(coefficients) <= above:
            continue
        excluding: list[int] = []
        others: list[int] = []
        shares: list[int] = []
        for c, variable in zip(coefficients, variables, strict=True):
            if above < c <= most:
                excluding.append(variable)
            else:
                others.append(variable)
                shares.append(c)
        if len(excluding) < 2 or not others:
            continue
        key = tuple(excluding)
        if key not in alone:
            alone[key] = program.variable(1)
        program.rows[number] = Row([*others, alone[key]], [*shares, most], least, most)
    for key, variable in alone.items():
        program.equal([*[(1, one) for one in key], (-1, variable)], 0)
