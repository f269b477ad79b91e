"""Where readers put the problems they find."""

from __future__ import annotations

from collections import Counter

from fourleaf.model.problems import Problem, Severity, brief, shown

MOST_OF_ONE_OBJECT = 20
"""Errors, and as many warnings, that are told of one object of a cluster: it may have thousands."""


class Report:
    """The problems of one reading, each once, in the order in which they were found.

    Of each object no more than `most` errors and as many warnings are told, and that there are
    more; None tells all.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._found: dict[Problem, None] = {}
        self._counts: Counter[tuple[Severity, str, str]] = Counter()

    def add(self, problem: Problem) -> None:
        """Keep `problem`; a repetition counts once."""
        self._found.setdefault(problem)

    def error(
        self, source: str, title: str, field: str, value: object, message: str, advice: str
    ) -> Problem:
        """Keep an error about `field` of the object `title`, and return it."""
        problem = _problem(Severity.ERROR, source, title, field, value, message, advice)
        self._find(problem)
        return problem

    def warn(
        self, source: str, title: str, field: str, value: object, message: str, advice: str
    ) -> None:
        """Keep a warning about `field` of the object `title`."""
        self._find(_problem(Severity.WARNING, source, title, field, value, message, advice))

    def _find(self, problem: Problem) -> None:
        """Keep one that was found just now, where not too many are of its object."""
        if problem in self._found:
            return
        where = problem.severity, problem.source, problem.object
        self._counts[where] += 1
        if self._most is not None and self._counts[where] > self._most:
            problem = _and_more(self._most, *where)
        self.add(problem)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything found, errors first."""
        return tuple(sorted(self._found, key=lambda problem: not problem.is_error))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The errors alone."""
        return tuple(problem for problem in self._found if problem.is_error)


def _and_more(most: int, severity: Severity, source: str, title: str) -> Problem:
    """Says that not all is told of an object."""
    kind = "errors" if severity is Severity.ERROR else "warnings"
    message = f"it has more {kind} than the {most} that are told"
    return Problem(severity, source, title, "", "", message, "mend those; the next are told then")


def _problem(
    severity: Severity,
    source: str,
    title: str,
    field: str,
    value: object,
    message: str,
    advice: str,
) -> Problem:
    """A problem of bounded length, whatever names and keys an object has."""
    text = "" if value is None else shown(value)
    return Problem(
        severity, source, brief(title), brief(field), text, brief(message), brief(advice)
    )
