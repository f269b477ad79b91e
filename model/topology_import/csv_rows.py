"""CSV with a header: node, leaf, and where known spine, core and accelerator.

Columns may also be called as in the Lingjun data set (ip, ASW, PSW, DSW) or `host`, `name`,
`superspine`. Other columns are left alone.
"""

from __future__ import annotations

import csv

from fourleaf.model.readers.topology.findings import FindingKind, finding
from fourleaf.model.topology_import.description import (
    Description,
    DescriptionFormat,
    Position,
    in_order,
)
from fourleaf.model.topology_import.text import MAX_NODES, Text

COLUMNS = {
    "node": ("node", "host", "hostname", "name", "ip"),
    "leaf": ("leaf", "asw"),
    "spine": ("spine", "psw"),
    "core": ("core", "superspine", "dsw"),
    "accelerator": ("accelerator",),
}
"""Level -> the column names that mean it, in lower case."""


def read_csv(text: Text) -> Description:
    """The fabric of a CSV file. Raises `BadInput`."""
    rows = csv.reader(text.lines, strict=True)
    places: dict[str, list[Position]] = {}
    try:
        columns = _columns(text, next(rows))
        for row in rows:
            if row and (position := _position(text, rows.line_num, columns, row)):
                places.setdefault(position.node, []).append(position)
            if len(places) > MAX_NODES:
                message = f"names more than {MAX_NODES} nodes"
                text.error(rows.line_num, "", None, message, "Split the fabric.")
                break
    except csv.Error as error:
        text.error(rows.line_num, "", None, f"is not CSV: {error}", "Correct the quotes there.")
    if not places and not text.report.errors:
        text.error(0, "", None, "names no node", "Add a row for each node below the header.")
    text.stop_on_errors()
    single = {node: own[0] for node, own in places.items() if len(set(own)) == 1}
    return Description(
        DescriptionFormat.CSV,
        text.name,
        in_order(single.values()),
        findings=(
            *finding(FindingKind.NODE_IN_TWO_LEAVES, places.keys() - single.keys()),
            *finding(FindingKind.NODE_TWICE, (one for one in single if len(places[one]) > 1)),
        ),
    )


def _columns(text: Text, header: list[str]) -> dict[str, int]:
    """Level -> number of its column. Raises `BadInput` without node and leaf."""
    known = {name: level for level, names in COLUMNS.items() for name in names}
    found: dict[str, int] = {}
    for number, title in enumerate(header):
        level = known.get(title.strip().lower())
        if level is not None and level in found:
            text.error(1, "header", title, f"names {level} a second time", "Keep one column.")
        elif level is not None:
            found[level] = number
    for level in ("node", "leaf"):
        if level not in found:
            advice = f"Name a column one of: {', '.join(COLUMNS[level])}."
            text.error(1, "header", ",".join(header), f"has no column for {level}", advice)
    text.stop_on_errors()
    return found


def _position(text: Text, line: int, columns: dict[str, int], row: list[str]) -> Position | None:
    values: dict[str, str] = {}
    for level, number in columns.items():
        value = row[number].strip() if number < len(row) else ""
        if value or level in ("node", "leaf"):
            if not text.sound(line, level, value):
                return None
            values[level] = value
    return Position(**values)
