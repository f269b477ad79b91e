"""Where readers put the problems they find."""

from __future__ import annotations

from fourleaf.model.problems import Problem, Severity, brief, shown


class Report:
    """All problems of one reading, each once, in the order in which they were found."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}

    def add(self, problem: Problem) -> None:
        """Keep `problem`; a repetition counts once."""
        self._found.setdefault(problem)

    def error(
        self, source: str, title: str, field: str, value: object, message: str, advice: str
    ) -> Problem:
        """Keep an error about `field` of the object `title`, and return it."""
        problem = _problem(Severity.ERROR, source, title, field, value, message, advice)
        self.add(problem)
        return problem

    def warn(
        self, source: str, title: str, field: str, value: object, message: str, advice: str
    ) -> None:
        """Keep a warning about `field` of the object `title`."""
        self.add(_problem(Severity.WARNING, source, title, field, value, message, advice))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything found, errors first."""
        return tuple(sorted(self._found, key=lambda problem: not problem.is_error))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The errors alone."""
        return tuple(problem for problem in self._found if problem.is_error)


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
