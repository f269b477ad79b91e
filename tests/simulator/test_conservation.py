"""Books that were tampered with are found out."""

import pytest

from fourleaf.simulator.conservation import NotConserved, check
from fourleaf.simulator.gpu_seconds import GpuSeconds
from fourleaf.simulator.journal import Journal, Stretch

CAPACITY = {"a": 8, "b": 8}
STRETCHES = (
    Stretch("a", 8, 0, "p", 10),
    Stretch("a", 8, 10, "q", 15),
    Stretch("b", 8, 5, "", 20),
    Stretch("b", 4, 0, "r", 5),
)
"""p and then q on a; r on b until it fails."""
RIGHT = GpuSeconds(used=80 + 40 + 20, failed=120, free=320 - 260)


def test_right_books_pass() -> None:
    """16 GPUs for 20 s are 320: 140 used, 120 failed, 60 free."""
    check(CAPACITY, STRETCHES, 20, RIGHT)


@pytest.mark.parametrize(
    ("totals", "word"),
    [
        (GpuSeconds(141, 120, 60), "used"),
        (GpuSeconds(140, 119, 60), "failed"),
        (GpuSeconds(140, 120, 61), "free"),
        (GpuSeconds(139, 121, 60), "used"),
    ],
)
def test_a_lost_gpu_second_is_found(totals: GpuSeconds, word: str) -> None:
    """One GPU-second too many or too few in any book, or in the wrong one."""
    with pytest.raises(NotConserved, match=f"booked as {word}"):
        check(CAPACITY, STRETCHES, 20, totals)


def test_two_on_one_node_are_found() -> None:
    """Q comes to a before p has gone, and the books know of it: 12 GPU-seconds are impossible."""
    early = (Stretch("a", 8, 0, "p", 10), Stretch("a", 4, 7, "q", 10))
    with pytest.raises(NotConserved, match="a: 12 GPUs are held and 0 failed at 7, it has 8"):
        check({"a": 8}, early, 10, GpuSeconds(92, 0, -12))


def test_a_pod_on_a_failed_node_is_found() -> None:
    """P stays on a node that has failed."""
    dead = (Stretch("a", 8, 0, "p", 10), Stretch("a", 8, 5, "", 10))
    with pytest.raises(NotConserved, match="8 GPUs are held and 8 failed at 5"):
        check({"a": 8}, dead, 10, GpuSeconds(80, 40, -40))


def test_what_never_ended_is_found() -> None:
    """A stretch without an end, and a node that nobody knows."""
    with pytest.raises(NotConserved, match="lasts from 0 to -1"):
        check({"a": 8}, (Stretch("a", 8, 0, "p"),), 10, GpuSeconds(-8, 0, 88))
    with pytest.raises(NotConserved, match="z: is no node"):
        check({"a": 8}, (Stretch("z", 8, 0, "p", 1),), 10, GpuSeconds(8, 0, 72))


def test_the_journal_closes_what_is_open() -> None:
    """Who still runs at the end has run until then."""
    journal = Journal()
    journal.begin("a", 8, 3, "p")
    journal.begin("b", 8, 4)
    journal.finish("b", 6)
    journal.close(9)
    assert journal.stretches == [Stretch("a", 8, 3, "p", 9), Stretch("b", 8, 4, "", 6)]
