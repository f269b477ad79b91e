"""What is wrong with an input, as data, and the one place where that becomes text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

PRINTED = 50
"""How many problems `BadInput` prints; all of them stay in `problems`."""

VALUE_WIDTH = 80

TEXT_WIDTH = 500
"""Characters of a field, a message, advice or the name of an object, more than a cluster has."""


class Severity(StrEnum):
    """`error` makes the object unusable; `warning` leaves it usable as read."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what stands there, why that cannot be, what to do.

    `source` is a file name, or `-` for standard input. `object` names kind, namespace
    and name (`Pod ml/bert-0`); empty where the file itself is the trouble. `field` is a
    path as kubectl prints it (`spec.containers[0].image`).
    """

    severity: Severity
    source: str
    object: str
    field: str
    value: str
    message: str
    advice: str

    @property
    def is_error(self) -> bool:
        """Whether the object cannot be used as it stands."""
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        where = printable(
            ": ".join(part for part in (self.source, self.object, self.field) if part)
        )
        value = f" = {self.value}" if self.value else ""
        return f"{self.severity.value}: {where}{value}: {self.message}\n  {self.advice}"


def problem_order(problem: Problem) -> tuple[bool, tuple[str, ...]]:
    """Sorts problems, errors first, whatever was found first. Only equal ones have one place."""
    what = (problem.object, problem.field, problem.value, problem.message)
    return not problem.is_error, (*what, problem.source, problem.advice)


def printable(text: str) -> str:
    """`text` on one line, without characters that move the cursor or hide what stands there."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def one_line(text: str) -> str:
    """`text` as `printable` has it, with a blank in the place of each line's end."""
    return text if text.isprintable() else printable(" ".join(text.split()))


def printable_lines(text: str) -> str:
    """Each line of `text` as `printable` has it; lines end where a terminal or a log ends them."""
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def printable_json(text: str) -> str:
    """JSON `text`, of one line or indented, with what `printable` replaces as escapes.

    Outside of texts JSON has no such characters but the ends of lines.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def _escape(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[i]:02x}{data[i + 1]:02x}" for i in range(0, len(data), 2))


def brief(text: str, most: int = TEXT_WIDTH) -> str:
    """`text` as `printable` has it, of at most `most` characters."""
    text = printable(text[: most + 1])
    return text if len(text) <= most else text[: most - 3] + "..."


def shown(value: object) -> str:
    """`value` as it may stand in a message: on one line, of bounded length."""
    try:
        text = f'"{value}"' if isinstance(value, str) else str(value)
    except ValueError:
        text = "a number of many digits"
    except RecursionError:
        text = "something nested very deeply"
    text = " ".join(printable(text[:400]).split())
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 3] + "..."


def rendered(problems: Iterable[Problem]) -> str:
    """All problems as text, at most `PRINTED` of them, and how many were left out."""
    listed = list(problems)
    lines = [str(problem) for problem in listed[:PRINTED]]
    if len(listed) > PRINTED:
        lines.append(f"and {len(listed) - PRINTED} more problems")
    return "\n".join(lines)


class AdvisedError(ValueError):
    """A value that cannot be used. Its message says why; `advice` what helps."""

    def __init__(self, message: str, advice: str) -> None:
        self.advice = advice
        super().__init__(message)


class BadInput(Exception):
    """The input cannot be used. `problems` holds everything that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(rendered(self.problems))
