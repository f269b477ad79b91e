"""The page of predicates: each row that promises something names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "predicates.md"


def test_every_promise_names_a_test() -> None:
    """Rows that are not looked at say what happens instead."""
    rows = [line.split("|")[1:-1] for line in PAGE.read_text("utf-8").splitlines()[10:]]
    rows = [[cell.strip() for cell in row] for row in rows if len(row) == 3]
    assert len(rows) >= 25
    for predicate, here, test in rows:
        named = re.fullmatch(r"`(tests/[\w/]+\.py)::(\w+)`", test)
        if here == "not looked at":
            assert named is None, predicate
            continue
        assert named, predicate
        assert f"def {named[2]}(" in (ROOT / named[1]).read_text("utf-8"), predicate
