"""GPU-seconds add up as time goes on."""

import pytest

from fourleaf.simulator.gpu_seconds import GpuSeconds, GpuSecondsBooks


def test_every_gpu_second_is_in_one_book() -> None:
    """10 GPUs: 4 used for 5 s, then 4 used and 3 failed for 2 s."""
    books = GpuSecondsBooks(10)
    books.used = 4
    books.advance(5)
    books.failed = 3
    books.advance(7)
    assert books.totals == GpuSeconds(used=28, failed=6, free=36)
    assert books.totals.all == 70
    assert books.free == 3


def test_time_does_not_go_back() -> None:
    """A moment before the last one is refused."""
    books = GpuSecondsBooks(1)
    books.advance(5)
    with pytest.raises(ValueError, match="from 5 to 4"):
        books.advance(4)
