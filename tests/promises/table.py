"""The table of promises: `*.yaml` beside this file, one document of each older scheduler a file.

`python -m tests.promises` counts the verdicts and prints the rows that are not kept yet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

FOLDER = Path(__file__).parent
FLOOR = 190
"""Rows with the verdict Y: a test holds the number, which only goes up."""


class Promise(BaseModel):
    """One promise: `n` from 1, who makes it, and what is true of it.

    `by` names what holds it: a test (`tests/F.py::test_x`, or `tests/F.py::` for all of a file), a
    command that a page has its readers type (`docs/P.md: $ ...`), or a benchmark whose figures
    stand in benchmarks/tables (`python -m benchmarks.B`). `why` says how far, or why not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    n: int
    documents: Annotated[
        tuple[Literal["readme", "design", "site"], ...], Field(alias="in", min_length=1)
    ]
    promise: str
    verdict: Literal["Y", "differs", "not yet"]
    by: tuple[str, ...] = ()
    why: str = ""


def promises() -> list[Promise]:
    """All rows, by number. Raises `pydantic.ValidationError` for a row that is none."""
    rows = [row for path in FOLDER.glob("*.yaml") for row in yaml.safe_load(path.read_text())]
    return sorted((Promise.model_validate(row) for row in rows), key=lambda row: row.n)
