"""What a table shows: rows that are found, in an order, page by page, all of it in the URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import urlencode

from fastapi import Query

PAGE_ROWS = 50
"""Rows of a page."""

Row = TypeVar("Row")
Find = Annotated[str, Query(max_length=253)]
Sort = Annotated[str, Query(max_length=32)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]


@dataclass(frozen=True, slots=True)
class TableState:
    """The table at `path`: rows with `find` in their name, by the column `sort`, at `page` from 1.

    A minus before the column turns the order round; "" is the order of the table itself.
    """

    path: str
    find: str = ""
    sort: str = ""
    page: int = 1

    @property
    def column(self) -> str:
        """The column that is sorted by."""
        return self.sort.removeprefix("-")

    @property
    def falls(self) -> bool:
        """Whether the largest comes first."""
        return self.sort.startswith("-")

    def url(self, part: bool = False, **other: Any) -> str:
        """The URL of this state, with `other` values in place of its own; or of its part."""
        one = replace(self, **other)
        values = {"find": one.find, "sort": one.sort, "page": one.page if one.page > 1 else ""}
        query = urlencode({name: value for name, value in values.items() if value})
        if part:
            query = f"{query}&part=1" if query else "part=1"
        return f"{self.path}?{query}" if query else self.path

    def sorted_by(self, column: str) -> str:
        """The URL that sorts by `column`: the largest first, and the other way round after that."""
        sort = column if self.sort == f"-{column}" else f"-{column}"
        return self.url(sort=sort, page=1)

    def order(self, column: str) -> str:
        """What `aria-sort` says of `column`."""
        if self.column != column:
            return "none"
        return "descending" if self.falls else "ascending"


@dataclass(frozen=True, slots=True)
class TablePage(Generic[Row]):
    """The rows that `state` shows, of `found` ones among `total`, on one of `pages`."""

    state: TableState
    rows: tuple[Row, ...]
    found: int
    total: int
    pages: int


def table_page(
    state: TableState,
    rows: Sequence[Row],
    name: Callable[[Row], str],
    columns: Mapping[str, Callable[[Row], Any]],
) -> TablePage[Row]:
    """The page of `rows` that `state` asks for: the last one where there is none of its number.

    `columns` gives what each is sorted by; rows that are equal there keep their order.
    """
    wanted = state.find.strip().lower()
    found = [row for row in rows if wanted in name(row).lower()] if wanted else list(rows)
    by = columns.get(state.column)
    if by is None:
        state = replace(state, sort="")
    else:
        found.sort(key=by, reverse=state.falls)
    pages = max(1, -(-len(found) // PAGE_ROWS))
    state = replace(state, page=min(state.page, pages))
    first = (state.page - 1) * PAGE_ROWS
    shown = tuple(found[first : first + PAGE_ROWS])
    return TablePage(state, shown, len(found), len(rows), pages)
