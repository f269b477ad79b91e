"""Climbing in windows ends at the best answer, whatever it starts from."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fourleaf.solver.cpsat.backend import CpSat
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.gap_closing import FIRST_WINDOW_WORK, climb, reduced_program
from fourleaf.solver.cpsat.program import Program, SolveResult
from tests.solver.cpsat.programs import answers, counted, made

COSTS = st.lists(st.integers(-9, 30), min_size=5, max_size=5)
LITTLE = 1e-7
"""Work after which CP-SAT has seldom done more than begin."""


def worth(costs: list[int], values: tuple[int, ...]) -> int:
    """What an answer is worth."""
    return sum(cost * value for cost, value in zip(costs, values, strict=False))


@given(counted(), COSTS, st.data())
def test_the_best_answer_is_found_from_any_other(
    program: Program, costs: list[int], data: st.DataObject
) -> None:
    """Enumerated: from any answer and any true bound, windows with much or little work."""
    every = list(answers(program))
    assume(every)
    start = data.draw(st.sampled_from(every), "start")
    top = max(worth(costs, values) for values in every)
    bound = top + data.draw(st.sampled_from((0, 1, 7, 200)), "slack")
    better = [values for values in every if worth(costs, values) > worth(costs, start)]
    ranges = [(0, most) for most in program.high]
    tight = data.draw(st.booleans(), "tight")
    if better and tight:
        ranges = [(min(column), max(column)) for column in zip(*better, strict=True)]
    first = SolveResult(list(start), False, worth(costs, start), bound, ranges)
    work = data.draw(st.sampled_from((FIRST_WINDOW_WORK, LITTLE)), "work")
    costs = costs[: program.size]
    found = climb(program, costs, first, 0, Deadline(60), work)
    assert (found.proven, found.objective, found.bound) == (True, top, top)
    assert found.values is not None
    assert tuple(found.values) in every
    assert worth(costs, tuple(found.values)) == top


@given(counted(), st.data())
def test_what_is_left_has_the_answers_within_the_ranges(
    program: Program, data: st.DataObject
) -> None:
    """Enumerated: the same answers, read back from the smaller program, worth the same."""
    ranges = []
    for most in program.high:
        least = data.draw(st.integers(0, most))
        ranges.append((least, data.draw(st.integers(least, most))))
    costs = list(range(3, 3 + program.size))
    left = reduced_program(program, costs, ranges)
    inside = [
        values
        for values in answers(program)
        if all(a <= value <= b for value, (a, b) in zip(values, ranges, strict=True))
    ]
    smaller = list(answers(left.program))
    assert [tuple(left.whole(values)) for values in smaller] == inside
    assert [left.constant + worth(left.costs, values) for values in smaller] == [
        worth(costs, values) for values in inside
    ]
    assert left.within([(0, most) for most in left.program.high]) == ranges


def test_without_time_the_first_answer_stays_with_its_bound() -> None:
    """Two gangs on one node, the worse one placed: 3 of at most 5 points, not proven."""
    program = made([1, 1], [([1, 1], 1)])
    first = SolveResult([1, 0], False, 3, 5, [(0, 1), (0, 1)])
    found = climb(program, [3, 5], first, 0, Deadline(0))
    assert (found.values, found.proven, found.objective, found.bound) == ([1, 0], False, 3, 5)


def leaves(seed: int) -> tuple[Program, list[int]]:
    """Gangs of 1 to 4 nodes, so many of each size, on twenty leaves of four; random points."""
    dice = random.Random(seed)  # noqa: S311 - an instance, not a secret
    program, costs = Program(), []
    by_size: list[list[int]] = [[], [], [], []]
    for _ in range(20):
        here = [program.variable(4 // size) for size in (1, 2, 3, 4)]
        program.at_most(list(zip((1, 2, 3, 4), here, strict=True)), 4)
        liked = dice.randint(0, 1000)
        costs += [size * liked + dice.randint(0, 400) for size in (1, 2, 3, 4)]
        for variables, variable in zip(by_size, here, strict=True):
            variables.append(variable)
    for variables, gangs in zip(by_size, (9, 7, 5, 4), strict=True):
        program.equal([(1, variable) for variable in variables], gangs)
    return program, costs


@pytest.mark.parametrize("seed", range(12))
def test_windows_cut_short_end_where_one_whole_search_ends(seed: int) -> None:
    """Twenty leaves, work for a part of a window only: the same points as without limits."""
    program, costs = leaves(seed)
    whole = CpSat(program, 0, scored=True, uniform=True).maximize(costs, 60)
    first = next(
        found
        for work in (2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1.0)
        if (found := CpSat(program, 0, True, True).maximize(costs, 60, work)).values is not None
    )
    if first.proven:
        first = replace(first, proven=False, ranges=[(0, most) for most in program.high])
    found = climb(program, costs, first, 0, Deadline(60), work=2e-4)
    assert (found.proven, found.objective) == (True, whole.objective)


@pytest.mark.parametrize("seed", range(12))
def test_ranges_hold_the_best_answer_where_it_is_better(seed: int) -> None:
    """Twenty leaves: what the ranges of a search cut short leave is worth as much as the whole."""
    program, costs = leaves(seed)
    whole = CpSat(program, 0, scored=True).maximize(costs, 60)
    cut = [CpSat(program, 0, scored=True).maximize(costs, 60, work) for work in (1e-4, 2e-4, 3e-4)]
    open_ = [found for found in cut if found.ranges is not None]
    assert open_
    for found in open_:
        assert found.bound >= whole.objective
        if found.values is not None and found.objective == whole.objective:
            continue
        left = reduced_program(program, costs, found.ranges or [])
        rest = CpSat(left.program, 0, scored=True).maximize(left.costs, 60)
        assert rest.objective + left.constant == whole.objective
