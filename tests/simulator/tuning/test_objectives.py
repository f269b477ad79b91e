"""Gains are shares of the default, positive where better."""

import math

import pytest

from fourleaf.simulator.tuning.objectives import OBJECTIVES


@pytest.mark.parametrize(
    ("name", "base", "value", "gain"),
    [
        ("allocation", 0.4, 0.5, 0.25),
        ("allocation", 0.4, 0.3, -0.25),
        ("largest-wait", 100.0, 75.0, 0.25),
        ("leaves", 1.0, 1.5, -0.5),
        ("wait", 0.0, 0.0, 0.0),
        ("wait", 0.0, 5.0, -math.inf),
        ("allocation", 0.0, 0.1, math.inf),
    ],
)
def test_gains(name: str, base: float, value: float, gain: float) -> None:
    """More allocation is better, less of everything else is."""
    assert OBJECTIVES[name].gain(base, value) == pytest.approx(gain)
