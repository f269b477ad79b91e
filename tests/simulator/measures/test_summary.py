"""Figures of a record that is small enough to be reckoned by hand."""

import pytest

from fourleaf.simulator.gpu_seconds import GpuSeconds
from fourleaf.simulator.measures.quantiles import quantile
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.measures.tables import duration, tables
from fourleaf.simulator.record import GangRecord, ReplayCounts, ReplayRecord, Sample


def record() -> ReplayRecord:
    """Make four gangs on 64 GPUs, of which one never starts."""
    gangs = (
        GangRecord("a", 8, 1, 0, 50, start=0, end=50, leaves=1, fewest=1),
        GangRecord("b", 16, 2, 10, 50, start=30, end=90, leaves=2, fewest=1, crossing=2, moves=1),
        GangRecord("c", 32, 4, 20, 50, start=60, end=120, leaves=1, fewest=1, lost=3_600_000),
        GangRecord("d", 24, 3, 40, 50, fewest=1),
    )
    counts = ReplayCounts(cycles=7, broken=1, moves=1)
    samples = [Sample(0, 8, 0, 56, 0, 0, 4, 2, 1), Sample(40, 24, 0, 40, 2, 56, 2, 1, 0)]
    return ReplayRecord(
        "cpsat", "made", "by hand", 0, 64, 40, 200,
        GpuSeconds(used=640, failed=64, free=1856), GpuSeconds(), counts,
        {one.name: one for one in gangs}, samples,
    )  # fmt: skip


def test_the_figures_are_those_of_the_gangs() -> None:
    """Waits 0, 20, 40 and, for d until the end, 160; completions 50, 80 and 100."""
    found = summarise(record())
    assert found.allocation == 0.25
    assert found.failed == 0.025
    assert (found.gangs, found.never) == (4, 1)
    assert (found.wait_mean, found.wait_p95) == (55, 160)
    assert found.completion_mean == pytest.approx(230 / 3)
    assert found.completion_p95 == 100
    assert (found.leaves, found.at_fewest) == (1.5, 0.5)
    assert found.crossing == pytest.approx(2 / 6)
    assert (found.free_leaves, found.free_pairs, found.free_quads) == (3, 1.5, 0.5)
    assert found.lost == 1.0


def test_the_largest_have_half_the_nodes_of_the_largest() -> None:
    """Of 1, 2, 3 and 4 nodes those with 2 and up: waits of 20, 40 and 160."""
    largest = summarise(record()).largest
    assert (largest.name, largest.gangs, largest.waited) == ("2 to 4", 3, 1)
    assert (largest.p50, largest.p95, largest.worst) == (40, 160, 160)


def test_size_classes_double() -> None:
    """1, 2, and 3 to 4; leaves are of those that started."""
    found = summarise(record()).classes
    assert [(one.name, one.gangs) for one in found] == [("1", 1), ("2", 1), ("3 to 4", 2)]
    assert (found[2].leaves, found[2].fewest) == (1, 1)


def test_a_quantile_is_a_value_that_occurred() -> None:
    """The nearest rank: of 20 values the 19th is the 95th percentile, of one the one."""
    assert quantile(range(1, 21), 0.95) == 19
    assert quantile(range(1, 22), 0.95) == 20
    assert quantile(range(1, 11), 0.5) == 5
    assert quantile([7], 0.95) == 7
    assert quantile([], 0.5) == 0


def test_tables_speak_of_failures_where_there_were_any() -> None:
    """Two tables without failures, a third with them."""
    one = record()
    assert len(tables([("ours", one, summarise(one))])) == 2
    one.counts.failures = 3
    shown = tables([("ours", one, summarise(one))])
    assert shown[2].rows[0][:2] == ("ours", "3")
    assert all(len(row) == len(table.header) for table in shown for row in table.rows)


def test_without_wide_gangs_there_are_no_leaves_to_count() -> None:
    """Gangs of one node have neither leaves to compare nor hops: a dash, and no 0 that misleads."""
    one = record()
    one.gangs = {"a": one.gangs["a"]}
    (row,) = tables([("ours", one, summarise(one))])[0].rows
    assert row[6:8] == ("-", "-")


def test_times_have_the_unit_that_fits() -> None:
    """Up to two of a unit in the smaller one."""
    assert [duration(n) for n in (0, 119, 120, 7199, 7200, 172_799, 172_800)] == [
        "0 s", "119 s", "2 min", "120 min", "2.0 h", "48.0 h", "2.0 d",
    ]  # fmt: skip
