"""Failures come by chance, and by the same chance each time."""

from fourleaf.simulator.node_failures import outages
from fourleaf.simulator.trace import DAY

NODES = [f"n{i}" for i in range(1000)]


def test_the_same_seed_gives_the_same_failures() -> None:
    """Two runs agree; another seed does not."""
    first = list(outages(NODES, 6.5, DAY, 7 * DAY, 1))
    assert first == list(outages(NODES, 6.5, DAY, 7 * DAY, 1))
    assert first != list(outages(NODES, 6.5, DAY, 7 * DAY, 2))


def test_the_rate_is_per_thousand_node_days() -> None:
    """6.5 a day on 1000 nodes: over 1000 days, 6500 give or take four deviations of 81."""
    found = list(outages(NODES, 6.5, DAY, 1000 * DAY, 3))
    assert abs(len(found) - 6500) < 4 * 81
    mean = sum(one.seconds for one in found) / len(found)
    assert abs(mean / DAY - 1) < 4 / 81
    assert all(0 <= one.at < 1000 * DAY for one in found)


def test_no_rate_no_failure() -> None:
    """At a rate of 0 nothing fails."""
    assert list(outages(NODES, 0, DAY, DAY, 1)) == []
