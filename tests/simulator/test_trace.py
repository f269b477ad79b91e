"""What is done to traces before a replay."""

import pytest

from simulator.trace import DAY, Job
from tests.simulator.made import job, trace


def test_load_is_work_over_room() -> None:
    """Two jobs of 8 GPUs for 50 s are all that 8 GPUs give in 100 s, and half of what 16 do."""
    one = trace(job("a", 0, 50), job("b", 100, 50))
    assert one.offered() == 8 * 50 * 2
    assert one.load(8) == 1.0
    assert one.load(16) == 0.5


def test_arrivals_alone_are_scaled_to_a_load() -> None:
    """Half the load means twice the time between arrivals; durations stay."""
    scaled = trace(job("a", 0, 50), job("b", 100, 50)).at_load(0.5, 8)
    assert [(one.arrival, one.duration) for one in scaled.jobs] == [(0, 50), (200, 50)]
    assert scaled.load(8) == 0.5


def test_no_spacing_gives_load_to_nothing() -> None:
    """A trace without GPUs offers no load at any spacing."""
    with pytest.raises(ValueError, match="no spacing"):
        trace(job("a", 0, 50, gpus=0)).at_load(0.5, 8)


def test_the_busiest_window_starts_anew_at_zero() -> None:
    """Three jobs on the third day beat one on the first; ties go to the first window."""
    late = [job(f"l{i}", 2 * DAY + i, 10) for i in range(3)]
    found = trace(job("a", 0, 10), *late).busiest(DAY)
    assert [(one.name, one.arrival) for one in found.jobs] == [("l0", 0), ("l1", 1), ("l2", 2)]
    tie = trace(job("a", 0, 10), job("b", 2 * DAY, 10)).busiest(DAY)
    assert [one.name for one in tie.jobs] == ["a"]


def test_whole_nodes_round_up() -> None:
    """12 GPUs are 2 nodes of 8, a fraction of one GPU is a node, and no GPU is no job."""
    jobs = (Job("a", 0, 1, 1, 12), Job("b", 0, 1, 1, 1, share=300), Job("c", 0, 1, 1, 0))
    found = trace(*jobs).whole_nodes(8)
    assert [(one.name, one.pods, one.gpus, one.share) for one in found.jobs] == [
        ("a", 2, 8, 1000),
        ("b", 1, 8, 1000),
    ]
