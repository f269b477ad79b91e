"""Where the public data lies, and the rows of its files."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "TOPOLOGY_DATA_DIR"
DEFAULT = Path(__file__).parents[3] / "shared" / "data"
"""Beside the checkout."""


class NoData(Exception):
    """A file of the public data is not there. The message ends with what to do."""


def folder() -> Path:
    """The folder that `TOPOLOGY_DATA_DIR` names, else the one beside the checkout."""
    return Path(os.environ.get(VARIABLE, DEFAULT))


def available(*names: str) -> bool:
    """Whether all these files can be read."""
    return all((folder() / name).is_file() for name in names)


def rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of one CSV file by column. Raises `NoData` where it is not there."""
    path = folder() / name
    if not path.is_file():
        raise NoData(f"{path} is not there.\nSet {VARIABLE} to the folder that holds {name}.")
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)
