"""When the parts of a call have to be done, by hand."""

from __future__ import annotations

import pytest

from fourleaf.solver.process.deadlines import Deadlines


@pytest.mark.parametrize(
    ("limit", "looks", "after"),
    [
        (5.0, 0, 0.0),
        (5.0, 100_000, 1.0),
        (5.0, 500 * 1000, 1.0),
        (5.0, 500 * 10_000, 0.5),
        (2.0, 500 * 5000, 0.0),
        (1.0, 500 * 10_000, 0.0),
    ],
)
def test_our_own_plan_begins_early_enough(limit: float, looks: int, after: float) -> None:
    """It has until three fifths of the limit, for two million looks a second."""
    call = Deadlines(10.0, limit, 10.0 + limit, 10.1 + limit)
    assert call.own == pytest.approx(10.0 + 0.6 * limit)
    assert call.begin(looks) == pytest.approx(10.0 + after)
