"""What the evictions of many runs came to, counted for the page."""

from __future__ import annotations

from tests.faults.report import evictions
from tests.faults.runs import Run


def test_excuses_stand_beside_the_counts() -> None:
    """Of three runs one was not asked; of the others 8 and 4 served, and 2 are excused."""
    runs = [
        Run("a", 1, 1.0),
        Run("a", 2, 1.0, served=8, excused=2, went_back=0, excuses=("node n0 changed",)),
        Run("b", 1, 1.0, served=4, excused=0, went_back=7),
    ]
    assert evictions(runs) == (
        "\nOf pods that lived, in 2 of these runs: "
        "12 evictions served, 2 excused, 7 for commits that went back.\n"
        "\n- `a` 2: node n0 changed\n"
    )
    assert evictions(runs[:1]) == ""
