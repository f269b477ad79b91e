"""The variables for gangs that leave no room for others change no answer."""

from hypothesis import given

from fourleaf.solver.cpsat.cuts.exclusive_use import add_exclusive_use
from fourleaf.solver.cpsat.program import UNBOUNDED, Program
from tests.solver.cpsat.programs import answers, capacities, made


@given(capacities())
def test_every_answer_stays_and_none_comes_in(program: Program) -> None:
    """Enumerated: the same answers, each with exactly one value of the new variables."""
    before = list(answers(program))
    size = program.size
    add_exclusive_use(program)
    assert sorted(values[:size] for values in answers(program)) == before


def test_gangs_of_a_whole_leaf_share_one_variable() -> None:
    """Two gangs of 4 and one of 2 on four nodes: `4a + 4b + 2c <= 4` is `4w + 2c <= 4`.

    The same two in a second row, as with pods of another size, get no second variable.
    """
    program = made([1, 1, 2], [([4, 4, 2], 4), ([8, 8, 1], 8)])
    add_exclusive_use(program)
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
    add_exclusive_use(program)
    assert (program.high, program.rows) == ([1, 1, 1], rows)
