"""Branch and cut: the best of all answers, each a true one, or none at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.math_opt.core.python import solver as math_opt  # type: ignore[import-untyped]

from fourleaf.solver.cpsat import branch_and_cut as module
from fourleaf.solver.cpsat.branch_and_cut import branch_and_cut
from fourleaf.solver.cpsat.program import Program
from tests.solver.cpsat.programs import answers, counted, made
from tests.solver.cpsat.test_gap_closing import COSTS, worth


@settings(max_examples=100)
@given(counted(), COSTS, st.sampled_from((0.0, 0.1)))
def test_it_finds_what_enumeration_finds(program: Program, costs: list[int], gap: float) -> None:
    """A true answer within the gap of the best one and a true bound, or that there is none."""
    every, costs = list(answers(program)), costs[: program.size]
    found = branch_and_cut(program, costs, 60, gap)
    assert found is not None
    assert found.proven
    if not every:
        assert found.values is None
        return
    top = max(worth(costs, values) for values in every)
    assert found.values is not None
    assert tuple(found.values) in every
    assert found.objective == worth(costs, tuple(found.values)) <= top <= found.bound
    assert found.bound - found.objective <= gap * min(abs(found.objective), abs(found.bound))


def test_an_answer_that_breaks_a_row_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS says that pods of 2 and 3 slots fit on 4: nothing is known of the program then."""
    program, solve = made([1, 1], [([2, 3], 4)]), math_opt.solve

    def wrong(model: Any, *rest: Any) -> Any:
        result = solve(model, *rest)
        result.solutions[0].primal_solution.variable_values.values[:] = [1.0, 1.0]
        return result

    assert branch_and_cut(program, [5, 5], 60) is not None
    monkeypatch.setattr(math_opt, "solve", wrong)
    assert branch_and_cut(program, [5, 5], 60) is None


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, ValueError])
def test_where_it_fails_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """The search goes on without it."""

    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(math_opt, "solve", fail)
    assert branch_and_cut(made([1], [([1], 1)]), [1], 60) is None


def test_too_large_a_program_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three variables where two may be: the memory of the solver process is limited."""
    program = made([1, 1, 1], [([1, 1, 1], 2)])
    assert branch_and_cut(program, [1, 1, 1], 60) is not None
    monkeypatch.setattr(module, "MOST_VARIABLES", 2)
    assert branch_and_cut(program, [1, 1, 1], 60) is None


def test_without_time_nothing_is_known() -> None:
    """Sixty pods of odd sizes on forty nodes, in a thousandth of a second."""
    nodes, pods = 40, 60
    program = Program()
    seats = [[program.variable(1) for _ in range(nodes)] for _ in range(pods)]
    for pod in seats:
        program.at_most([(1, seat) for seat in pod], 1)
    for node in range(nodes):
        program.at_most([(7 + 13 * n % 11, pod[node]) for n, pod in enumerate(seats)], 23)
    found = branch_and_cut(program, [1 + v % 7 for v in range(program.size)], 0.0)
    assert found is None or not found.proven
