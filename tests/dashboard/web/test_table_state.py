"""Tables whose state is a URL."""

from __future__ import annotations

import pytest

from fourleaf.dashboard.web.table_state import PAGE_ROWS, TableState, table_page

COLUMNS = {"size": len, "name": lambda one: one}


@pytest.mark.parametrize(
    ("state", "rows"),
    [
        (TableState("/t"), ["b/xx", "a/y", "c/zzz"]),
        (TableState("/t", sort="name"), ["a/y", "b/xx", "c/zzz"]),
        (TableState("/t", sort="-size"), ["c/zzz", "b/xx", "a/y"]),
        (TableState("/t", sort="-luck"), ["b/xx", "a/y", "c/zzz"]),
        (TableState("/t", find=" B/X "), ["b/xx"]),
        (TableState("/t", find="<script>"), []),
        (TableState("/t", page=9), ["b/xx", "a/y", "c/zzz"]),
    ],
)
def test_rows_are_found_and_sorted(state: TableState, rows: list[str]) -> None:
    """By name whatever its case; a column or page that does not exist changes nothing."""
    page = table_page(state, ["b/xx", "a/y", "c/zzz"], str, COLUMNS)
    assert list(page.rows) == rows
    assert (page.found, page.total, page.pages) == (len(rows), 3, 1)


def test_pages_of_a_table() -> None:
    """Of 120 rows the third page has 20, and the page beyond the last is the last."""
    rows = [f"{number:03}" for number in range(2 * PAGE_ROWS + 20)]
    page = table_page(TableState("/t", sort="-name", page=7), rows, str, COLUMNS)
    assert (page.state.page, page.pages, len(page.rows)) == (3, 3, 20)
    assert (page.rows[0], page.rows[-1]) == ("019", "000")


def test_the_url_has_the_whole_state() -> None:
    """What a tenant may have written into it is quoted; the order turns with the second click."""
    state = TableState("/t", find="a&b=<c>", sort="-size", page=2)
    assert state.url() == "/t?find=a%26b%3D%3Cc%3E&sort=-size&page=2"
    assert state.url(part=True, find="", sort="", page=1) == "/t?part=1"
    assert state.sorted_by("size") == "/t?find=a%26b%3D%3Cc%3E&sort=size"
    assert state.sorted_by("name") == "/t?find=a%26b%3D%3Cc%3E&sort=-name"
    assert (state.order("size"), state.order("name")) == ("descending", "none")
