"""The first page of the results says what the tables below it say."""

import pytest

from benchmarks.results import RESULTS
from benchmarks.verdicts import NoFigure, page, sections, with_verdicts

TABLES = """\
<!-- one -->
## The first: a table

| case | load | ms | goal | met |
|---|---|---|---|---|
| a | 70 % | 1 | 2 | yes |
| a | 80 % | 3 | 2 | no |

| case | s |
|---|---|
| a | 4 |
<!-- /one -->
"""


def test_the_page_is_that_of_the_sections() -> None:
    """Where this fails, a section was changed without it: run `python -m benchmarks.verdicts`."""
    text = RESULTS.read_text("utf-8")
    assert page(text) in text
    assert with_verdicts(text) == text


def test_cells_are_found_by_row_and_column() -> None:
    """By as many cells as tell rows apart; a column of another table is looked for there."""
    one = sections(TABLES)["one"]
    assert one.link == "[The first: a table](#the-first-a-table)"
    assert (one.cell("ms", "a", "80 %"), one.cell("s", "a")) == ("3", "4")
    assert one.count("met", "yes") == (1, 2)
    for column, row in (("ms", "b"), ("CPU", "a")):
        with pytest.raises(NoFigure, match=f"no cell {column} of {row}"):
            one.cell(column, row)
