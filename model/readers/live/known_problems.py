"""The problems of a changing cluster, in order: sorted where they come, not in each reading."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable

from fourleaf.model.problems import Problem, problem_order

FEW = 8
"""Of so many problems one may come or go, and they are not all sorted anew."""


class KnownProblems:
    """What is wrong, by what it was found in: a gang, the fabric, or all of it side by side.

    Several of them may find the same; it is one problem.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, frozenset[Problem]] = {}
        self._finders: Counter[Problem] = Counter()
        self._in_order: list[Problem] = []
        self._changed: set[Problem] = set()
        self._given: tuple[Problem, ...] = ()

    def has(self, where: Hashable) -> bool:
        """Whether anything is wrong there."""
        return where in self._found

    def keep(self, where: Hashable, problems: tuple[Problem, ...]) -> None:
        """Keep `problems` in place of what was wrong there."""
        before, now = self._found.get(where, frozenset()), frozenset(problems)
        if now:
            self._found[where] = now
        elif before:
            del self._found[where]
        self._finders.update(now - before)
        self._finders.subtract(before - now)
        self._changed |= now ^ before

    def in_order(self) -> tuple[Problem, ...]:
        """All problems, whatever was found first; the same object for as long as none changes."""
        if self._changed:
            if len(self._changed) * FEW > len(self._finders):
                self._finders = +self._finders
                self._in_order = sorted(self._finders, key=problem_order)
            else:
                for problem in self._changed:
                    self._settle(problem)
            self._changed.clear()
            self._given = tuple(self._in_order)
        return self._given

    def _settle(self, problem: Problem) -> None:
        """Have one problem among those in order, or no more."""
        at = bisect_left(self._in_order, problem_order(problem), key=problem_order)
        is_there = self._in_order[at : at + 1] == [problem]
        if self._finders[problem] > 0:
            if not is_there:
                self._in_order.insert(at, problem)
            return
        del self._finders[problem]
        if is_there:
            del self._in_order[at]
