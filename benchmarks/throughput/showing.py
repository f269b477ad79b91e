"""Tables on the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.results import markdown


def show(tables: Sequence[tuple[str, list[str], list[list[str]]]]) -> list[str]:
    """Print the tables; the same as Markdown."""
    parts = []
    for words, header, lines in tables:
        shown = Table(*header)
        for line in lines:
            shown.add_row(*line)
        Console(width=120).print(words, shown)
        parts += [*([words] if words else []), markdown(header, lines)]
    return parts
