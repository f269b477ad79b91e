"""What a page shows is held against what was printed."""

from __future__ import annotations

import pytest

from tests.docs.outputs import told_apart

SAID = "moves  4 pods of 1 gang\n  to leaf-1, as it is\nproven fewest: 4 moves, 44 ms\n"


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        ("", ""),
        ("moves 7 pods of 1 gang\n...\nproven fewest: 4 moves, 1.5 ms\n", ""),
        ("moves 4 pods\nof 1 gang to leaf-1,\n", ""),
        ("moves ...\nproven ...\n", ""),
        ("keeps 4 pods of 1 gang\n", "keeps 4 pods of 1 gang"),
        ("proven ...\n  to leaf-1 ...\n", "  to leaf-1 ..."),
        ("moves 4 pods of 1 gang\n  8 of\n", "  8 of"),
        ("moves 4 pods of 1 gang\nmoves 4 pods of 1 gang\n", "moves 4 pods of 1 gang"),
    ],
)
def test_lines_come_in_order_whatever_their_numbers(shown: str, missing: str) -> None:
    """Numbers and spaces are free; words and their order are not."""
    assert told_apart(shown, SAID) == missing
