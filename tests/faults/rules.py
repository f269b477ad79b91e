"""When a proxy strikes: at the k-th request that matches, or at all from there on."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.faults.asked import Asked, Match
from tests.faults.events import EventFault, EventMatch
from tests.faults.faults import Fault, Pass

Trigger = Callable[[Asked], object]
ALWAYS = math.inf


@dataclass(slots=True, eq=False)
class Rule:
    """Strikes `times` requests that match, beginning with number `first`, counted from 1.

    `before` is called before the fault takes its course, `after` once there is an answer or
    none.
    """

    match: Match
    fault: Fault = field(default_factory=Pass)
    first: int = 1
    times: float = 1
    before: Trigger | None = None
    after: Trigger | None = None
    seen: int = 0
    done: threading.Event = field(default_factory=threading.Event)
    """Set once the first request that it struck has run its course."""
    began: threading.Event = field(default_factory=threading.Event)
    """Set once it strikes for the first time."""

    def strikes(self, one: Asked) -> bool:
        """Whether it strikes `one`, which counts."""
        if not self.match(one):
            return False
        self.seen += 1
        return self.first <= self.seen < self.first + self.times

    @property
    def struck(self) -> int:
        """How many requests it has struck."""
        return int(max(0, min(self.seen - self.first + 1, self.times)))


@dataclass(slots=True, eq=False)
class EventRule:
    """Strikes `times` events that match, beginning with number `first`, counted from 1."""

    match: EventMatch
    fault: EventFault
    first: int = 1
    times: float = ALWAYS
    seen: int = 0

    def strikes(self, one: Asked, told: dict[str, object]) -> bool:
        """Whether it strikes this event, which counts."""
        if not self.match(one, told):
            return False
        self.seen += 1
        return self.first <= self.seen < self.first + self.times
