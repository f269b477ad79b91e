"""The queue of virtual time: what happens next, and in which order at one moment."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any


class EventKind(IntEnum):
    """What happens. At one moment the kinds follow each other in this order."""

    END = 0  # a gang has done its work
    RETURN = 1  # a node works again
    FAIL = 2  # a node fails
    ARRIVE = 3  # a job is submitted
    DEFRAGMENT = 4  # gangs may be moved to make room
    CYCLE = 5  # the policy is asked
    SAMPLE = 6  # the state is written down
    CLOSE = 7  # the measured time is over


@dataclass(frozen=True, slots=True, order=True)
class ReplayEvent:
    """One event at `at` whole seconds. `number` keeps those of one moment and kind in order."""

    at: int
    kind: EventKind
    number: int
    what: Any = field(compare=False, default=None)


class EventQueue:
    """Events by time, kind and the order in which they were added."""

    def __init__(self) -> None:
        self._heap: list[ReplayEvent] = []
        self._added = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, at: int, kind: EventKind, what: Any = None) -> None:
        """Let `kind` happen at `at`."""
        heapq.heappush(self._heap, ReplayEvent(at, kind, self._added, what))
        self._added += 1

    def pop(self) -> ReplayEvent:
        """Take out what happens next. Raises `IndexError` where nothing is left."""
        return heapq.heappop(self._heap)
