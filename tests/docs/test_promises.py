"""Pages that promise something: each row names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "predicates.md"
RELIABILITY = ROOT / "docs" / "reliability.md"


def test_every_promise_names_a_test() -> None:
    """Rows that are not looked at say what happens instead."""
    table = PAGE.read_text("utf-8").partition("|---|---|---|\n")[2]
    rows = [line.split("|")[1:-1] for line in table.splitlines()]
    rows = [[cell.strip() for cell in row] for row in rows if len(row) == 3]
    assert len(rows) >= 25
    for predicate, here, test in rows:
        named = re.fullmatch(r"`(tests/[\w/]+\.py)::(\w+)`", test)
        if here == "not looked at":
            assert named is None, predicate
            continue
        assert named, predicate
        assert f"def {named[2]}(" in (ROOT / named[1]).read_text("utf-8"), predicate


def test_every_promise_of_reliability_names_tests() -> None:
    """All do, and all tests are there."""
    text = RELIABILITY.read_text("utf-8")
    promised = {int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)}
    rows = re.findall(r"^\| ([\d, ]+) \| (`tests/.*`) \|$", text, re.MULTILINE)
    assert {int(one) for numbers, _ in rows for one in numbers.split(",")} == promised
    for _, tests in rows:
        for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests):
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), name
