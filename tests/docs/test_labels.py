"""Words that a user meets on a page, in a report or after an installation, and cannot look up."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNEXPLAINED = ("<h2>Signs</h2>", "‰", "is worth</h2>", "held to it", "counts the looks")


@pytest.mark.parametrize("folder", ["dashboard/templates", "deploy/charts", "docs", "cli"])
def test_no_label_has_a_word_of_its_own(folder: str) -> None:
    """A legend is called Legend, a score Score, and a rate says what its numbers mean."""
    files = [
        one
        for one in (ROOT / folder).rglob("*")
        if one.suffix in {".html", ".txt", ".md", ".py", ".j2"} and "decisions" not in one.parts
    ]
    assert len(files) > 5
    found = [(one.name, word) for one in files for word in UNEXPLAINED if word in one.read_text()]
    assert found == []
