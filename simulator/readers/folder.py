"""Where the public data lies, and the rows of its files."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from fourleaf.model.problems import brief

T = TypeVar("T")
VARIABLE = "TOPOLOGY_DATA_DIR"
PAGE = "docs/replay.md"
"""Says where each file comes from, with its licence and checksum."""
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Where tests and benchmarks of a checkout find the data without the variable."""


class NoData(Exception):
    """A file of the public data is not there. The message ends with what to do."""


def folder() -> Path:
    """The folder that `TOPOLOGY_DATA_DIR` names, else the one that a checkout has beside it."""
    return Path(os.environ.get(VARIABLE, BESIDE))


def available(*names: str) -> bool:
    """Whether all these files can be read."""
    return all((folder() / name).is_file() for name in names)


class BadData(NoData):
    """A file of the public data is not what it should be. The message ends with what to do."""


def read(name: str, parse: Callable[[dict[str, str]], T]) -> Iterator[T]:
    """What `parse` makes of each row of one CSV file.

    Raises `NoData` where the file is not there, and `BadData` where it is not text, or a row
    lacks a column or holds something else than `parse` takes.
    """
    path = folder() / name
    if not path.is_file():
        where = f"{path} is not there"
        if VARIABLE not in os.environ:
            where = f"{name} is not there: {VARIABLE} names no folder of public traces"
        advice = f"Set {VARIABLE} to the folder that holds {name}; {PAGE} says where it comes from."
        raise NoData(f"{where}.\n{advice}")
    line = 1
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            for row in reader:
                line = reader.line_num
                yield parse(row)
    except KeyError as error:
        raise _bad(path, line, f"there is no column {error}") from error
    except (ValueError, TypeError, OverflowError, csv.Error) as error:
        raise _bad(path, line, str(error)) from error


def _bad(path: Path, line: int, what: str) -> BadData:
    return BadData(f"{path}, line {line}: {brief(what)}.\nFetch the file anew, or set {VARIABLE}.")
