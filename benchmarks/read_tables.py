"""What was measured, as cells of the tables that the benchmarks wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class NoFigure(LookupError):
    """A page or a cell that a verdict names is not there."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What one benchmark measured: the page that `benchmarks.NAME` wrote."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """Its heading."""
        return self.text.split("# ", 1)[1].split("\n", 1)[0]

    @property
    def link(self) -> str:
        """A link to it from the first page."""
        return f"[{self.title}](tables/{self.name}.md)"

    @property
    def commit(self) -> str:
        """The commit that was measured, "" where none is told."""
        found = re.search(r", commit (\w+)$", self.text, re.MULTILINE)
        return found[1] if found else ""

    def rows(self) -> Iterator[dict[str, str]]:
        """Every row of every table: column -> cell, the first one also as ``."""
        header: list[str] = []
        before: list[str] = []
        for line in self.text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|"):
                header = []
            elif set(line) <= set("|-"):
                header = before
            elif header:
                yield dict(zip(header, cells, strict=False)) | {"": cells[0]}
            before = cells

    def cell(self, column: str, *row: str) -> str:
        """The cell of `column` in the first row that begins with `row`. Raises `NoFigure`."""
        for one in self.rows():
            if column in one and tuple(one.values())[: len(row)] == row:
                return one[column]
        raise NoFigure(f"{self.name} has no cell {column} of {', '.join(row)}")

    def said(self, pattern: str) -> str:
        """What the group of `pattern` matches in the text. Raises `NoFigure`."""
        found = re.search(pattern, self.text)
        if found is None:
            raise NoFigure(f"{self.name} does not say {pattern}")
        return found[1]

    def count(self, column: str, value: str) -> tuple[int, int]:
        """How many rows with a cell of `column` have `value` there, and how many there are."""
        cells = [one[column] for one in self.rows() if one.get(column)]
        return cells.count(value), len(cells)


def read_tables(folder: Path) -> dict[str, Tables]:
    """The pages of tables in `folder`, by benchmark."""
    return {path.stem: Tables(path.stem, path.read_text("utf-8")) for path in folder.glob("*.md")}
