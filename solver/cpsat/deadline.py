"""The time a solve may take, in seconds on a monotonic clock."""

from __future__ import annotations

import time
from collections.abc import Callable


class Deadline:
    """Counts down from `limit` seconds."""

    def __init__(self, limit: float) -> None:
        self._end = time.monotonic() + limit

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - time.monotonic())

    @staticmethod
    def timer() -> Callable[[], float]:
        """A function that tells the seconds since now."""
        start = time.perf_counter()
        return lambda: time.perf_counter() - start
