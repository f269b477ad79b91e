"""Rows of very many cells in columns, without the cost of a table that wraps each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.style import Style

GAP = 2
WIDEST = 80
"""Characters that a column has at most: what is longer sticks out, and widens no other row."""


@dataclass(frozen=True, slots=True)
class Rows:
    """`rows` of as many cells each, the first of them titles; nothing of a cell is cut off.

    A device map may have a hundred thousand lines: a row takes microseconds.
    """

    rows: Sequence[Sequence[str]]
    no_wrap: ClassVar[bool] = True
    """A terminal goes on with a long line below, as with a text of one line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """The titles, and all other rows as one segment."""
        widths = [
            min(WIDEST, max(map(len, column))) + GAP for column in zip(*self.rows, strict=True)
        ]
        titles, *others = (
            "".join(map(str.ljust, row, widths)).rstrip() + "\n" for row in self.rows
        )
        yield Segment(titles, Style(dim=True))
        yield Segment("".join(others))
