"""The two consoles, and everything that is written to them in one fixed form."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fourleaf.cli.render.glyphs import Glyphs, glyphs_for

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    from fourleaf.model.problems import Problem

EXIT_OK = 0
EXIT_BREACHES = 1
EXIT_BAD_INPUT = 2
EXIT_PENDING = 3


def out() -> Console:
    """Standard output: colours on a terminal only, and none where NO_COLOR is set."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def err() -> Console:
    """Standard error, likewise."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def glyphs() -> Glyphs:
    """The characters that standard output can carry."""
    return glyphs_for(sys.stdout.encoding or "ascii")


class Printable:
    """`line` without characters that move the cursor or hide what stands there.

    What a file says may stand anywhere: the key of a selector as well as the name of a gang.
    """

    def __init__(self, line: RenderableType) -> None:
        self._line = line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """The segments that the line is made of."""
        from rich.segment import Segment

        from fourleaf.model.problems import printable

        for text, style, control in console.render(self._line, options):
            lines = (printable(one) for one in text.split("\n"))
            yield Segment(text if control else "\n".join(lines), style, control)


def write(text: str) -> None:
    """Write `text` to standard output as it stands."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def show(lines: Iterable[RenderableType]) -> None:
    """Print `lines` to standard output; in a file, no line ends in blanks."""
    console = out()
    if console.is_terminal:
        _print(console, lines)
        return
    with console.capture() as capture:
        _print(console, lines)
    write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def _print(console: Console, lines: Iterable[RenderableType]) -> None:
    for line in lines:
        # Printed alone, a text forgets that it is one line.
        console.print(Printable(line), soft_wrap=bool(getattr(line, "no_wrap", False)))


def print_set_aside(problems: Iterable[Problem]) -> None:
    """Print problems of an input that is used all the same, each as a warning.

    An object that cannot be used is left out, or held; `error` is kept for what stops a verb.
    """
    from fourleaf.model.problems import Severity

    print_problems(replace(one, severity=Severity.WARNING) for one in problems)


def print_problems(problems: Iterable[Problem], to_stdout: bool = False) -> None:
    """Print problems as they are: errors red and warnings yellow on a terminal."""
    from rich.text import Text

    from fourleaf.model.problems import PRINTED

    console = out() if to_stdout else err()
    listed = list(problems)
    for problem in listed[:PRINTED]:
        severity = problem.severity.value
        text = Text(str(problem))
        text.stylize("bold red" if problem.is_error else "bold yellow", 0, len(severity))
        console.print(Printable(text), soft_wrap=True)
    if len(listed) > PRINTED:
        console.print(f"and {len(listed) - PRINTED} more problems")
