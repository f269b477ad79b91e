"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars and line breaks in cells are taken care of."""
    lines = [_row(titles), _row(["---"] * len(titles)), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """`text` as code, nothing where it is empty."""
    return f"`{text}`" if text else ""


def _row(cells: Sequence[str]) -> str:
    plain = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(plain)} |"
