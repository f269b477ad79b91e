"""Problems in order: as if all were sorted each time, and the same object while none changes."""

from __future__ import annotations

import random

import pytest

from fourleaf.model.problems import Problem, Severity, problem_order
from fourleaf.model.readers.live.known_problems import KnownProblems


def problem(number: int) -> Problem:
    """One of many, two of which differ in their advice alone."""
    severity = Severity.WARNING if number % 3 else Severity.ERROR
    return Problem(
        severity, "s", f"Pod ml/p-{number // 2}", "spec", "", "is wrong", f"{number % 2}"
    )


@pytest.mark.parametrize("seed", range(20))
def test_they_are_in_order_whatever_comes_and_goes(seed: int) -> None:
    """After each of 200 changes, by few or by many: what a plain sort of all gives."""
    rnd = random.Random(seed)  # noqa: S311 - tests have to be repeatable
    known, plain = KnownProblems(), dict[int, tuple[Problem, ...]]()
    for _ in range(200):
        for _ in range(rnd.choice((1, 1, 1, 30))):
            where = rnd.randrange(30)
            plain[where] = tuple(problem(rnd.randrange(120)) for _ in range(rnd.randrange(6)))
            known.keep(where, plain[where])
        together = {one for some in plain.values() for one in some}
        assert known.in_order() == tuple(sorted(together, key=problem_order))
        assert {where for where in plain if known.has(where)} == {w for w in plain if plain[w]}


def test_they_are_the_same_object_while_none_changes() -> None:
    """What is found again, also by another gang, makes no new list; what is gone does."""
    known = KnownProblems()
    known.keep("a", (problem(1), problem(2)))
    first = known.in_order()
    known.keep("a", (problem(2), problem(1)))
    assert known.in_order() is first
    known.keep("a", ())
    assert known.in_order() == ()
