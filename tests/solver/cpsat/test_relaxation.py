"""Relaxations that have no answer are none, whatever says so."""

from __future__ import annotations

import pytest

from fourleaf.solver.cpsat.program import Program
from fourleaf.solver.cpsat.relaxation import RelaxationSeries


@pytest.mark.parametrize("ranges", [{0: (4, 2)}, {7: (0, 2)}], ids=["empty", "unknown"])
def test_what_glop_refuses_has_no_answer(ranges: dict[int, tuple[int, int]]) -> None:
    """A range of nothing, and a variable that is not there: the search does without."""
    program = Program()
    program.variables([5])
    series = RelaxationSeries(program, [1])
    first = series.solve({0: (0, 3)}, 1.0)
    assert first is not None
    assert first.values == [3.0]
    assert series.solve(ranges, 1.0) is None
