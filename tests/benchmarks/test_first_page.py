"""The first page of the results says what the tables say."""

import re
import subprocess

import pytest

from benchmarks.first_page import ROOMS, first_page, is_older
from benchmarks.pictures import Picture
from benchmarks.read_tables import NoFigure, Tables, read_tables
from benchmarks.results import TABLES
from benchmarks.verdicts import VERDICTS

TABLES_OF_ONE = """\
# The first: a table

`python -m benchmarks.one --write`: a machine, commit abc123

| case | load | ms | goal | met |
|---|---|---|---|---|
| a | 70 % | 1 | 2 | yes |
| a | 80 % | 3 | 2 | no |

| case | s |
|---|---|
| a | 4 |
"""


ONE = Tables("one", TABLES_OF_ONE)


AGE = re.compile(r"\| (?:older|as now) (?=\|)")


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=TABLES.parent, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def test_the_page_is_that_of_the_tables() -> None:
    """If not, tables or what they measure were changed: run `python -m benchmarks.first_page`.

    What is older is compared where the history of the repository is there.
    """
    tables = read_tables(TABLES)
    made, published = first_page(tables), TABLES.with_name("RESULTS.md").read_text("utf-8")
    assert AGE.sub("", made) == AGE.sub("", published)
    commits = {tables[one.benchmark].commit for one in VERDICTS}
    if all(_git("cat-file", "-t", commit) == "commit" for commit in commits):
        assert made == published


def test_every_page_of_tables_says_what_it_measures() -> None:
    """A benchmark whose rooms are not named would be as new as ever."""
    assert read_tables(TABLES).keys() <= ROOMS.keys()


def test_tables_are_older_once_their_rooms_have_changed() -> None:
    """By content: those of the first commit are, those of a change elsewhere are not."""
    if _git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("without the history of the repository, nothing says what is older")
    first, last = _git("rev-list", "--max-parents=0", "HEAD"), _git("rev-parse", "HEAD")
    said = "`python -m benchmarks.webhook`: a machine, commit {}\n"
    assert is_older(Tables("webhook", said.format(first)))
    assert is_older(Tables("webhook", said.format("0000000")))
    assert is_older(Tables("webhook", "no commit"))
    if not _git("status", "--porcelain", "--", ":/webhook", ":/model"):
        assert not is_older(Tables("webhook", said.format(last)))


def test_a_picture_has_a_bar_for_each_row() -> None:
    """From nothing to the longest, thousands without their comma."""
    bars = {"now": lambda one: one.cell("ms", "a", "80 %"), "then": lambda one: "1,200"}
    drawn = Picture("Times", "ms", "one", bars).drawn(ONE)
    assert '    x-axis ["now", "then"]\n    y-axis "ms" 0 --> 1200\n    bar [3, 1200]' in drawn


def test_cells_are_found_by_row_and_column() -> None:
    """By as many cells as tell rows apart; a column of another table is looked for there."""
    one = ONE
    assert (one.link, one.commit) == ("[The first: a table](tables/one.md)", "abc123")
    assert (one.cell("ms", "a", "80 %"), one.cell("s", "a")) == ("3", "4")
    assert one.count("met", "yes") == (1, 2)
    for column, row in (("ms", "b"), ("CPU", "a")):
        with pytest.raises(NoFigure, match=f"no cell {column} of {row}"):
            one.cell(column, row)
