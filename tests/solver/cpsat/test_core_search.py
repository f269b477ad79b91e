"""Core search: what prices prove holds for every answer, and what is found lies within the gap."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ortools.math_opt.core.python import solver as math_opt  # type: ignore[import-untyped]

from fourleaf.solver.batch.solve import solve
from fourleaf.solver.cpsat import builder
from fourleaf.solver.cpsat.backend import CpSat
from fourleaf.solver.cpsat.core_search import near_best, priced
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.program import Program
from fourleaf.solver.cpsat.relaxation import relax
from tests.small import fabric, gang, snapshot
from tests.solver.cpsat.programs import answers, counted, made
from tests.solver.cpsat.test_gap_closing import COSTS, leaves, worth

PRICES = st.lists(st.floats(-9, 40), min_size=5, max_size=5)


@given(counted(), COSTS, PRICES, st.integers(-20, 90))
def test_any_prices_prove_a_bound_and_what_better_answers_hold(
    program: Program, costs: list[int], prices: list[float], least: int
) -> None:
    """Enumerated: no answer is worth more, and the ranges hold all that are worth so much."""
    proof = priced(program, costs[: program.size], prices[: len(program.rows)])
    ranges = proof.ranges(program, least)
    for values in answers(program):
        assert worth(costs, values) <= proof.bound
        if worth(costs, values) >= least:
            inside = zip(values, ranges, strict=True)
            assert all(low <= value <= high for value, (low, high) in inside)


def test_prices_of_the_relaxation_prove_what_it_is_worth() -> None:
    """Pods of 2 and 3 slots, 5 points each, on 4 slots: 8 1/3 points, without the first 6 2/3."""
    program = made([1, 1], [([2, 3], 4)])
    relaxed = relax(program, [5, 5], 60)
    assert relaxed is not None
    assert relaxed.values == pytest.approx([1, 2 / 3])
    proof = priced(program, [5, 5], relaxed.prices)
    assert proof.bound == 8
    assert proof.ranges(program, 6) == [(0, 1), (0, 1)]
    assert proof.ranges(program, 7) == [(1, 1), (0, 1)]


@settings(max_examples=60)
@given(counted(), COSTS, st.sampled_from((0.0, 0.02, 0.1)))
def test_what_is_found_lies_within_the_gap(program: Program, costs: list[int], gap: float) -> None:
    """Enumerated: a true answer, within the gap of the best one, and a true bound."""
    every = list(answers(program))
    costs = costs[: program.size]
    found = near_best(program, costs, 0, False, Deadline(60), gap)
    assume(every)
    top = max(worth(costs, values) for values in every)
    assert found is not None
    assert found.values is not None
    assert tuple(found.values) in every
    assert worth(costs, tuple(found.values)) == found.objective
    assert found.proven
    assert found.objective <= top <= found.bound
    # Of an answer that costs more than it is worth, the bound is the smaller number.
    least = min(abs(found.objective), abs(found.bound)) if found.objective * found.bound > 0 else 0
    assert found.bound - found.objective <= gap * least


@pytest.mark.parametrize("seed", range(6))
def test_on_twenty_leaves_it_ends_where_the_whole_search_ends(seed: int) -> None:
    """With and without a gap: the same points as the search of everything, or so much less."""
    program, costs = leaves(seed)
    whole = CpSat(program, 0, scored=True, uniform=True).maximize(costs, 60)
    exact = near_best(program, costs, 0, True, Deadline(60), 0.0)
    assert exact is not None
    assert (exact.proven, exact.objective, exact.bound) == (True, whole.objective, whole.objective)
    near = near_best(program, costs, 0, True, Deadline(60), 0.01)
    assert near is not None
    assert near.proven
    assert near.objective <= whole.objective <= near.bound <= 1.01 * near.objective
    assert near == near_best(program, costs, 0, True, Deadline(60), 0.01)


def test_without_work_the_answer_of_the_core_stays_with_its_bound() -> None:
    """What is found in the core is not lost where nothing more may be done, and is not proven."""
    program, costs = leaves(3)
    best = CpSat(program, 0, scored=True).maximize(costs, 60)
    found = near_best(program, costs, 0, True, Deadline(60), 0.0, most_work=0.0)
    assert found is not None
    assert not found.proven
    assert found.objective <= best.objective < found.bound


@pytest.mark.parametrize("seed", range(6))
def test_of_costs_alone_the_gap_is_a_share_of_the_least(seed: int) -> None:
    """Twelve of 24 places have to be taken, each costs a penalty: within 5 % of the least."""
    chance = random.Random(seed)  # noqa: S311 - costs that can be drawn again
    costs = [-chance.randint(20, 90) for _ in range(24)]
    program = Program()
    places = [program.variable(1) for _ in costs]
    program.equal([(1, place) for place in places], 12)
    found = near_best(program, costs, 0, False, Deadline(60), 0.05)
    assert found is not None
    best = sum(sorted(costs)[-12:])
    assert found.objective <= best <= found.bound
    assert best - found.objective <= 0.05 * abs(best)


def test_a_core_that_has_grown_to_everything_proves_its_answer() -> None:
    """Sixteen pods of 2 slots, the dearer the later, and two of 3 for 100 points: 5 slots in all.

    No pods of 2 make 5, so the cores of 2 and 6 more have no answer; the third is the program.
    """
    costs = [-number for number in range(16)] + [-100, -100]
    program = Program()
    pods = [program.variable(1) for _ in costs]
    program.equal(list(zip([2] * 16 + [3] * 2, pods, strict=True)), 5)
    found = near_best(program, costs, 0, False, Deadline(60), 0.0, most_work=0.0)
    assert found is not None
    assert (found.proven, found.objective, found.bound) == (True, -100, -100)


def failing(error: Exception) -> Callable[..., object]:
    """A solver that raises it, whatever it is asked."""

    def solve(*_: object) -> object:
        raise error

    return solve


@pytest.mark.parametrize(
    "error", [ImportError(), MemoryError(), RuntimeError("HiGHS"), ValueError("a bound")]
)
def test_a_relaxation_that_fails_is_done_without(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever HiGHS raises, there is no relaxation, and a batch is placed as well as with it."""
    world = snapshot(fabric([[2, 2]]), *(gang(f"g{number}", 1) for number in range(3)))
    monkeypatch.setattr(builder, "LARGE_PROGRAM", 0)
    with_it = solve(world)
    monkeypatch.setattr(math_opt, "solve", failing(error))
    assert relax(made([1, 1], [([2, 3], 4)]), [5, 5], 60) is None
    without = solve(world)
    assert with_it is not None
    assert without is not None
    assert len(without.placements) == 3
    assert (without.status, without.objective) == (with_it.status, with_it.objective)


def test_nothing_to_decide_is_left_to_the_whole_search() -> None:
    """A program without variables has no relaxation."""
    assert near_best(Program(), [], 0, False, Deadline(60), 0.05) is None


def test_without_time_there_is_no_relaxation() -> None:
    """The caller goes on without it."""
    program, costs = leaves(0)
    assert near_best(program, costs, 0, True, Deadline(0), 0.0) is None


def test_numbers_beyond_the_simplex_leave_no_relaxation() -> None:
    """Two pods that ask for 10^16 of something: the search of everything knows such integers."""
    assert relax(made([1, 1], [([10**16, 10**16 + 1], 2 * 10**16)]), [1, 1], 60) is None
