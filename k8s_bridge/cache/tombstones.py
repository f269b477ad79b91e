"""Tombstones: objects that are gone, while an older answer about them may be on its way."""

from __future__ import annotations

from collections import deque

from fourleaf.k8s_bridge.runtime.clock import Clock

TOMBSTONE_SECONDS = 300.0
"""Seconds; no request takes that long. A UID never comes back, so longer would do no harm."""


class Tombstones:
    """UIDs of objects whose end was seen.

    A list or a read that was answered before the end, and arrives after it, would otherwise bring
    the object back for good: the watch reports an end only once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._uids: set[str] = set()
        self._order: deque[tuple[float, str]] = deque()

    def add(self, uid: str) -> None:
        """The object of that UID is gone."""
        now = self._clock.monotonic()
        while self._order and now - self._order[0][0] > TOMBSTONE_SECONDS:
            self._uids.discard(self._order.popleft()[1])
        if uid and uid not in self._uids:
            self._uids.add(uid)
            self._order.append((now, uid))

    def __contains__(self, uid: object) -> bool:
        return uid in self._uids
