"""The benchmark of the batch solve measures what it says, on a fabric of 32 nodes."""

from benchmarks.solve.instances import Shape, snapshots
from benchmarks.solve.measure import measure


def test_a_small_row_has_every_figure_and_no_breach() -> None:
    """Two seeds of ten gangs give a figure per seed, all proven, all passed by the validator."""
    out = measure(range(2), Shape.regular(32), 10, parts=True)
    assert len(out.total) == len(out.cold) == len(out.placed) == len(out.greedy_score) == 2
    assert out.proven == [True, True]
    assert out.breaches == 0
    assert all(share <= 1 for share in out.greedy_gpus)


def test_instances_repeat() -> None:
    """The same seed gives the same two cycles."""
    assert snapshots(7, Shape.regular(64), 5, False) == snapshots(7, Shape.regular(64), 5, False)
