"""Pages that promise something: each row names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "predicates.md"
SECURITY = ROOT / "SECURITY.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
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
    assert [one for _, tests in rows for one in lacking(tests)] == []


def lacking(text: str) -> list[str]:
    """The tests that `text` names and that are not there."""
    return [
        f"{path}::{name}"
        for path, name in TEST.findall(text)
        if f"def {name}(" not in (ROOT / path).read_text("utf-8")
    ]


def test_every_sentence_of_security_names_tests() -> None:
    """Each row about an account or a threat, and each item; but what is not ours to test."""
    text = SECURITY.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    items = text.partition("## What stays")[2].split("\n- ")[1:]
    assert len(rows) >= 35
    assert len(items) >= 9
    untested = [one for one in (*rows, *items) if not TEST.search(one)]
    assert [one.split("|")[1].strip() for one in untested[:3]] == [
        "who",
        "cluster administrators",
        "who",
    ]
    assert all("Not ours to test" in one for one in untested[3:])
    assert lacking(text) == []
