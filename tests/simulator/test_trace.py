"""What is done to traces before a replay."""

import pytest

from fourleaf.simulator.trace import DAY, Job, Sizes
from tests.simulator.made import job, trace


def test_load_is_work_over_room() -> None:
    """Until 100, a gives 50 s of work on 8 GPUs and b, of 70 s, only the 20 s that are left."""
    one = trace(job("a", 0, 50), job("b", 80, 70), job("z", 100, 1))
    assert one.offered() == 8 * (50 + 20)
    assert one.load(8) == 0.7
    assert one.load(16) == 0.35


def test_arrivals_alone_are_scaled_to_a_load() -> None:
    """50 s of work until the last arrival are half of what 8 GPUs give if that comes at 100."""
    scaled = trace(job("a", 0, 50), job("b", 400, 50)).at_load(0.5, 8)
    assert [(one.arrival, one.duration) for one in scaled.jobs] == [(0, 50), (100, 50)]
    assert scaled.load(8) == 0.5


@pytest.mark.parametrize(("gpus", "load"), [(0, 0.5), (8, 3.0), (8, 0.0)])
def test_no_spacing_gives_any_load(gpus: int, load: float) -> None:
    """No GPUs offer nothing; two jobs of 8 GPUs never offer three times what 8 GPUs give."""
    one = trace(job("a", 0, 50, gpus=gpus), job("b", 400, 50, gpus=gpus))
    with pytest.raises(ValueError, match="no spacing"):
        one.at_load(load, 8)


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
    found = trace(*jobs).sized(Sizes.WHOLE_NODES, 8)
    assert [(one.name, one.pods, one.gpus, one.share) for one in found.jobs] == [
        ("a", 2, 8, 1000),
        ("b", 1, 8, 1000),
    ]


def test_a_node_for_every_gpu() -> None:
    """3 pods of 4 GPUs become 12 pods of 8; without GPUs there is no job."""
    found = trace(job("a", 0, 1, pods=3, gpus=4), job("c", 0, 1, gpus=0))
    (one,) = found.sized(Sizes.NODE_PER_GPU, 8).jobs
    assert (one.pods, one.gpus) == (12, 8)
    assert found.sized(Sizes.ASKED, 8) is found


def test_the_busiest_window_may_count_work() -> None:
    """One long job on the first day beats three short ones on the third."""
    late = [job(f"l{i}", 2 * DAY + i, 10) for i in range(3)]
    found = trace(job("a", 0, 1000), *late)
    assert [one.name for one in found.busiest(DAY, worth=lambda j: j.duration).jobs] == ["a"]


def test_arrivals_are_dealt_anew() -> None:
    """The same arrivals and the same jobs, in another order for another seed, as recorded for 0."""
    one = trace(*(job(f"j{i}", 10 * i, i + 1) for i in range(20)))
    assert one.shuffled(0) is one
    dealt = one.shuffled(1)
    assert [j.arrival for j in dealt.jobs] == [j.arrival for j in one.jobs]
    assert sorted((j.name, j.duration) for j in dealt.jobs) == sorted(
        (j.name, j.duration) for j in one.jobs
    )
    assert dealt.jobs == one.shuffled(1).jobs
    assert dealt.jobs not in (one.jobs, one.shuffled(2).jobs)
