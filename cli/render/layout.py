"""What views are laid out with: headings, indents, and tables without lines."""

from __future__ import annotations

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

INDENT = 2
CUT = "..."
"""Stands where a part of a text is left out."""


def heading(title: str, facts: str = "") -> Text:
    """The title of a part of a view, and a few words beside it."""
    line = Text(title, style="bold")
    line.append(f"  {facts}" if facts else "", style="not bold dim")
    return line


def indented(what: RenderableType) -> Padding:
    """What stands under a heading."""
    return Padding(what, (0, 0, 0, INDENT))


def shortened(text: str, width: int) -> str:
    """`text` of at most `width` characters, at least 5: names differ at both ends."""
    if len(text) <= width:
        return text
    tail = (width - len(CUT)) // 2
    return text[: width - len(CUT) - tail] + CUT + text[-tail:]


def plain_table(*titles: str) -> Table:
    """A table without lines; what is wider than its column goes on below."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    return table
