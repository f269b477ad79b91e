"""The glossary defines each word once, and says where it lives."""

from __future__ import annotations

import re
from itertools import pairwise

from tests.docs.test_guides import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
TITLES = ("word", "meaning", "nearest word", "file")
FILE = re.compile(r"`([\w./-]+)`")


def rows() -> list[list[str]]:
    """The cells of every row, titles and rules left out."""
    lines = [one for one in GLOSSARY.read_text("utf-8").splitlines() if one.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != TITLES[0] and not row[0].startswith("---")]


def test_every_row_is_whole() -> None:
    """A word, its meaning, the nearest word of the field, a file."""
    assert [row for row in rows() if len(row) != len(TITLES) or not all(row)] == []


def test_no_word_is_defined_twice() -> None:
    """Nor does one hide in a row with another."""
    words = sorted(word.strip() for row in rows() for word in row[0].split(","))
    assert [one for one, other in pairwise(words) if one == other] == []


def test_every_word_lives_somewhere() -> None:
    """The file column names one path of the repository, and it exists."""
    found = {row[0]: FILE.fullmatch(row[3]) for row in rows()}
    lost = [word for word, file in found.items() if not file or not (ROOT / file[1]).exists()]
    assert lost == []
