"""Tiny programs, and all their answers by enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from fourleaf.solver.cpsat.program import UNBOUNDED, Program

Rows = list[tuple[list[int], int]]


@st.composite
def capacities(draw: st.DrawFn) -> Program:
    """Up to five variables and up to three rows of capacity over them."""
    high = draw(st.lists(st.integers(0, 2), min_size=3, max_size=5))
    amounts = st.lists(st.integers(0, 4), min_size=len(high), max_size=len(high))
    rows = draw(st.lists(st.tuples(amounts, st.integers(0, 5)), min_size=1, max_size=3))
    return made(high, rows)


@st.composite
def counted(draw: st.DrawFn) -> Program:
    """The same, with a row of any sign and a sum that has to be met."""
    program = draw(capacities())
    variables = list(range(program.size))
    factors = st.lists(st.integers(-2, 2), min_size=len(variables), max_size=len(variables))
    signed = draw(factors)
    program.row(list(zip(signed, variables, strict=True)), draw(st.integers(-3, 1)), 3)
    program.equal([(1, variable) for variable in variables], draw(st.integers(0, 3)))
    return program


def made(high: list[int], rows: Rows) -> Program:
    """The bounds and rows of capacity as a program."""
    program = Program()
    for most in high:
        program.variable(most)
    for amounts, most in rows:
        terms = [(amount, variable) for variable, amount in enumerate(amounts) if amount]
        program.row(terms, UNBOUNDED, most)
    return program


def answers(program: Program) -> Iterator[tuple[int, ...]]:
    """Every answer, in order."""
    for values in product(*(range(most + 1) for most in program.high)):
        sums = (
            (sum(c * values[v] for c, v in zip(cs, vs, strict=True)), least, most)
            for vs, cs, least, most in program.rows
        )
        if all(least <= total <= most for total, least, most in sums):
            yield values
