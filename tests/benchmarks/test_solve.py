"""The benchmark of the batch solve measures what it says, on a fabric of 32 nodes."""

from benchmarks.solve.figures import (
    GREEDY_HEADER,
    HEADER,
    NAIVE_HEADER,
    figures,
    goals,
    greedy_figures,
    naive_figures,
    quantile,
)
from benchmarks.solve.instances import snapshots
from benchmarks.solve.measure import Instances, Measured, Sample, measure
from benchmarks.solve.rows import ROWS, Row
from fourleaf.simulator.fabric_shape import Shape

SMALL = Instances(Shape.regular(32), 10)


def test_a_small_row_has_every_figure_and_no_breach() -> None:
    """One seed of the first row gives every column; the plan is proven and legal."""
    row = Row("small", 32, 10, p50=1e9, p99=0, gap=0, memory=1)
    out = measure(range(1), SMALL, naive_seeds=1)
    line = dict(zip(HEADER, figures(row, out), strict=True))
    assert all(line.values())
    assert (line["seeds"], line["breaches"]) == ("1", "0")
    assert (line["proven"], line["cold proven"]) == ("1/1", "1/1")
    assert line["goals"] == "p50 1e+09 ms: yes, p99 0 ms: no, proven: yes, 1 MiB: no"
    assert len(greedy_figures(row, out)) == len(GREEDY_HEADER)
    assert [len(each) for each in naive_figures(out)] == [len(NAIVE_HEADER)]
    assert out.naive[0].status in {"OPTIMAL", "FEASIBLE"}
    assert Measured.from_dict(out.as_dict()) == out


def test_a_gap_is_no_proof() -> None:
    """A row that asks for a proof is not content with a small gap; one that asks for 1 % is."""
    out = Measured([Sample(0, 1, 1, 1, 1, 1, proven=False, gap=0.005)])
    assert goals(Row("", 1, 1, gap=0), out) == "proven: no"
    assert goals(Row("", 1, 1, gap=0.01), out) == "gap 1 %: yes"
    out.samples[0].gap = 0.0
    assert goals(Row("", 1, 1, gap=0), out) == "proven: no"


def test_instances_repeat() -> None:
    """The same seed gives the same two cycles."""
    assert SMALL.of(7) == snapshots(7, Shape.regular(32), 10, False)


def test_quantiles_and_rows() -> None:
    """Quantiles are values that occurred; the rows are the ones that have goals."""
    assert [quantile(range(200), share) for share in (0.5, 0.99, 1.0)] == [100, 198, 199]
    assert list(ROWS) == ["whole", "parts", "large", "kalos", "tiled"]
