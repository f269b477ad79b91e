"""The variables for gangs that leave no room for others change no answer."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from solver.laws.alone import add_alone
from solver.program import UNBOUNDED, Program

Rows = list[tuple[list[int], int]]


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[int], Rows]:
    """Bounds of up to five variables and up to three capacity rows over them."""
    high = draw(st.lists(st.integers(0, 2), min_size=3, max_size=5))
    amounts = st.lists(st.integers(0, 4), min_size=len(high), max_size=len(high))
    return high, draw(st.lists(st.tuples(amounts, st.integers(0, 5)), min_size=1, max_size=3))


def made(high: list[int], rows: Rows) -> Program:
    """The bounds and rows as a program."""
    program = Program()
    for most in high:
        program.variable(most)
    for amounts, most in rows:
        terms = [(amount, variable) for variable, amount in enumerate(amounts) if amount]
        program.row(terms, UNBOUNDED, most)
    return program


def answers(program: Program, first: int) -> list[tuple[int, ...]]:
    """The first so many values of every answer, sorted; what comes twice stands twice."""
    found = []
    for values in product(*(range(most + 1) for most in program.high)):
        sums = (
            (sum(c * values[v] for c, v in zip(cs, vs, strict=True)), least, most)
            for vs, cs, least, most in program.rows
        )
        if all(least <= total <= most for total, least, most in sums):
            found.append(values[:first])
    return sorted(found)


@given(programs())
def test_every_answer_stays_and_none_comes_in(given_: tuple[list[int], Rows]) -> None:
    """Enumerated: the same answers, each with exactly one value of the new variables."""
    high, rows = given_
    program = made(high, rows)
    before = answers(program, len(high))
    add_alone(program)
    assert answers(program, len(high)) == before


def test_gangs_of_a_whole_leaf_share_one_variable() -> None:
    """Two gangs of 4 and one of 2 on four nodes: `4a + 4b + 2c <= 4` is `4w + 2c <= 4`.

    The same two in a second row, as with pods of another size, get no second variable.
    """
    program = made([1, 1, 2], [([4, 4, 2], 4), ([8, 8, 1], 8)])
    add_alone(program)
    assert program.high == [1, 1, 2, 1]
    assert program.rows == [
        ([2, 3], [2, 4], UNBOUNDED, 4),
        ([2, 3], [1, 8], UNBOUNDED, 8),
        ([0, 1, 3], [1, 1, -1], 0, 0),
    ]


def test_gangs_that_leave_room_stay_as_they_are() -> None:
    """Three gangs of 2 on four nodes: two of them fit, so none is alone."""
    program = made([1, 1, 1], [([2, 2, 2], 4)])
    rows = list(program.rows)
    add_alone(program)
    assert (program.high, program.rows) == ([1, 1, 1], rows)
