"""How long the controller of a Job waits before it makes another pod."""

from __future__ import annotations

from collections import Counter

FIRST_BACKOFF = 10.0
"""Seconds after the first failure; twice as many after each further one."""
LONGEST_BACKOFF = 360.0
"""Seconds at most."""


class JobBackoff:
    """The failures of one Job: of all its pods, or index by index where it counts them so.

    A pod that has failed, is to end or is gone is a failure, and counts once, by its name.
    """

    def __init__(self, per_index: bool) -> None:
        self._per_index = per_index
        self._failures: Counter[int] = Counter()
        self._last: dict[int, float] = {}
        self._counted: set[str] = set()

    def count(self, index: int, pod: str, now: float) -> bool:
        """Take note of a failure; whether it is a new one."""
        if pod in self._counted:
            return False
        self._counted.add(pod)
        key = self._key(index)
        self._failures[key] += 1
        self._last[key] = now
        return True

    def over(self, index: int) -> float:
        """When another pod of that index may be made."""
        key = self._key(index)
        if not self._failures[key]:
            return 0.0
        doubled: float = FIRST_BACKOFF * 2 ** (self._failures[key] - 1)
        return self._last[key] + min(LONGEST_BACKOFF, doubled)

    def _key(self, index: int) -> int:
        return index if self._per_index else 0
