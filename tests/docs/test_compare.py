"""What the page on other schedulers says of their keys is what the readers do."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.docs.test_guides import ROOT

ROW = re.compile(r"^\| (?P<key>[^|]*`[^|]*) \| (?P<here>(?:not )?read|warned about|refused)", re.M)
LINK = re.compile(r"\]\((?:https://|[\w./-]+\.(?:md|py))[^)]*\)")
KEY = re.compile(r"`(?:spec\.)?([\w./-]+)`")


@cache
def sources() -> str:
    """All that reads objects: the model, its tables among it."""
    files = [*(ROOT / "model").rglob("*.py"), *(ROOT / "model").rglob("*.yaml")]
    return "\n".join(file.read_text("utf-8") for file in files)


ROWS = ROW.findall((ROOT / "docs" / "compare.md").read_text("utf-8").split("Coming from Slurm")[0])


@pytest.mark.parametrize(("row", "here"), ROWS, ids=[row for row, _ in ROWS])
def test_a_key_is_read_where_the_page_says_so(row: str, here: str) -> None:
    """Its last name stands in a reader, as a text of its own; where it is not read, in none."""
    name = KEY.findall(row)[0]
    found = re.search(rf"[\"']{re.escape(name)}[\"']|: {re.escape(name)}\b", sources())
    assert (found is None) is (here == "not read"), name


@pytest.mark.parametrize("page", ["README.md", "docs/compare.md"])
def test_each_cell_beside_others_leads_to_its_evidence(page: str) -> None:
    """A claim, of ours or of others, without a link is no more than a claim."""
    table = (ROOT / page).read_text("utf-8").split("| | Fourleaf | Kueue")[1].split("\n\n")[0]
    rows = [row.strip().strip("|").split("|") for row in table.splitlines()[2:]]
    assert len(rows) > 5
    assert {len(row) for row in rows} == {7}
    assert [(row[0], cell) for row in rows for cell in row[1:] if not LINK.search(cell)] == []


def test_the_page_has_rows() -> None:
    """A pattern that finds none would hold for every page."""
    assert len(ROWS) > 20
