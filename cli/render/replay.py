"""Replays for people: the tables, policy beside policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.layout import plain_table
from fourleaf.model.fabric import Fabric
from fourleaf.simulator.measures import tables
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.record import ReplayRecord
from fourleaf.simulator.trace import Trace


def replay_lines(
    trace: Trace, fabric: Fabric, runs: Sequence[tuple[str, ReplayRecord]]
) -> Iterator[RenderableType]:
    """What was replayed, and a table for each question; figures down, policies across."""
    yield Text(tables.title(trace, fabric), style="bold")
    yield Text(tables.note(trace), style="dim")
    figures = [(name, record, summarise(record)) for name, record in runs]
    for one in tables.tables(figures):
        yield Text(f"\n{one.title}", style="bold")
        yield _across(one) if one.header[0] == "policy" else as_is(one)
    for remark in tables.remarks(figures):
        yield Text(f"\n{remark}.", style="dim")


def _across(one: tables.Table) -> Table:
    """A table on its side, because it has more columns than a terminal."""
    table = _empty(("", *(row[0] for row in one.rows)))
    for number, name in enumerate(one.header[1:], 1):
        table.add_row(name, *(row[number] for row in one.rows))
    return table


def as_is(one: tables.Table) -> Table:
    """A table with its columns as they are."""
    table = _empty(one.header)
    for row in one.rows:
        table.add_row(*row)
    return table


def _empty(header: Sequence[str]) -> Table:
    table = plain_table()
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    return table
