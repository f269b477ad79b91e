"""Colours, patterns and letters of gangs."""

from __future__ import annotations

from itertools import pairwise

from fourleaf.dashboard.views.marks import COLOURS, PATTERNS, Marks, letters, style
from fourleaf.model.gang import GangKey


def keys(names: str) -> list[GangKey]:
    """One gang a letter."""
    return [GangKey("ml", name) for name in names]


def test_a_gang_keeps_its_mark_while_it_is_there() -> None:
    """Others come and go; the first free number is given again."""
    marks = Marks()
    a, b, c, d = keys("abcd")
    marks.keep([a, b, c])
    marks.keep([c, d, a])
    assert [marks.of(one) for one in (a, c, d)] == [0, 2, 1]


def test_letters_go_on_after_z() -> None:
    """As the columns of a spreadsheet."""
    assert [letters(n) for n in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]


def test_neighbours_differ_in_colour_and_all_in_something() -> None:
    """Each colour with each pattern before the first pair comes again."""
    looks = [style(n) for n in range(COLOURS * PATTERNS)]
    assert len(set(looks)) == COLOURS * PATTERNS
    assert all(one.split()[0] != other.split()[0] for one, other in pairwise(looks))
