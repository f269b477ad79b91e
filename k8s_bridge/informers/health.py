"""How well a kind is reflected, for metrics and readiness."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.runtime.clock import Clock

STALL_SECONDS = 120.0
"""Seconds of silence after which a watch is given up; servers send bookmarks about once a minute,
but none of a kind of which nothing has happened since they started."""

SILENT_SECONDS = STALL_SECONDS + 30.0
"""Seconds without a word after which a kind is out of date: a silent watch has been given up by
then, and the server has not taken another one."""

FAILING_SECONDS = 60.0
"""Seconds for which all requests about a kind fail after which it is out of date; a server that is
started anew is back by then."""


class ReflectorState(StrEnum):
    """What a reflection is doing."""

    LISTING = "Listing"
    FOLLOWING = "Following"
    ABSENT = "Absent"
    REFUSED = "Refused"


@dataclass(frozen=True, slots=True)
class Health:
    """One kind's reflection at one moment. Times are seconds of the monotonic clock.

    `kind` is the alternative that is followed or looked for. `synced_since`: when the list was
    taken that all since builds on, None without one. `last_heard`: when the server last sent a
    list, an event or a bookmark, or took a watch that lasts. `failing_since`: when requests began
    to fail that none has answered since, None where the last one was answered. `restarts` counts
    watches after the first of a list, `relists` lists after the first, `stale` lists that were
    older than what was seen already, `failures` requests without a useful answer, `last_error` and
    `last_failed` the last one's text and time.
    """

    kind: Kind
    state: ReflectorState
    synced_since: float | None
    last_heard: float | None
    events: int
    restarts: int
    relists: int
    stale: int
    failures: int
    last_error: str
    last_failed: float | None
    failing_since: float | None

    def age(self, now: float) -> float:
        """Seconds since the server was last heard of; infinite before the first time."""
        return float("inf") if self.last_heard is None else max(0.0, now - self.last_heard)

    def is_current(self, now: float) -> bool:
        """Whether decisions may rest on it: not served, or neither silent nor failing for long."""
        if self.state is ReflectorState.ABSENT:
            return True
        failing = 0.0 if self.failing_since is None else now - self.failing_since
        known = self.synced_since is not None
        return known and self.age(now) <= SILENT_SECONDS and failing <= FAILING_SECONDS


class Pulse:
    """Where a reflection writes down how it does. `read` is what others look at."""

    def __init__(self, kind: Kind, clock: Clock) -> None:
        self._clock = clock
        self._kind = kind
        self._state = ReflectorState.LISTING
        self._synced_since: float | None = None
        self._last_heard: float | None = None
        self._lists = 0
        self._events = 0
        self._restarts = 0
        self._stale = 0
        self._failures = 0
        self._failing = False
        self._last_error = ""
        self._last_failed: float | None = None
        self._failing_since: float | None = None
        self._opened: tuple[float, float] | None = None

    def read(self) -> Health:
        """How it is now."""
        self._settle()
        return Health(
            self._kind,
            self._state,
            self._synced_since,
            self._last_heard,
            self._events,
            self._restarts,
            max(0, self._lists - 1),
            self._stale,
            self._failures,
            self._last_error,
            self._last_failed,
            self._failing_since,
        )

    def listing(self, kind: Kind) -> None:
        """A list of `kind` is asked for; what is known counts until it is there."""
        self._kind = kind
        if self._state is ReflectorState.FOLLOWING:
            self._state = ReflectorState.LISTING

    def listed(self) -> None:
        """A list has come and is followed from now on."""
        self._state = ReflectorState.FOLLOWING
        self._lists += 1
        self._failing, self._failing_since = False, None
        self._synced_since = self._last_heard = self._clock.monotonic()

    def heard(self, event: bool) -> None:
        """A bookmark has come, or an event."""
        self._last_heard = self._clock.monotonic()
        self._events += event
        self._failing, self._failing_since = False, None

    def opened(self, steady_after: float) -> None:
        """The server has taken a watch: as good as a word, once it has lasted `steady_after`."""
        now = self._clock.monotonic()
        self._opened = now, now + steady_after

    def closed(self) -> None:
        """The watch has ended, for whatever reason."""
        self._settle()
        self._opened = None

    def _settle(self) -> None:
        if self._opened is None or self._clock.monotonic() < self._opened[1]:
            return
        self._last_heard = max(self._opened[0], self._last_heard or 0.0)
        self._opened = self._failing_since = None

    def restarted(self) -> None:
        """A watch has ended and another one takes its place."""
        self._restarts += 1

    def outdated(self) -> None:
        """A list was older than what was seen already."""
        self._stale += 1

    def failed(self, error: Exception) -> bool:
        """A request has failed; whether it is the first to since the server was last heard."""
        first, self._failing = not self._failing, True
        self._failures += 1
        self._last_error = str(error) or type(error).__name__
        self._last_failed = self._clock.monotonic()
        if self._failing_since is None:
            self._failing_since = self._last_failed
        return first

    def absent(self) -> None:
        """The kind is not served."""
        self._state = ReflectorState.ABSENT
        self._synced_since = None

    def refused(self, error: Exception) -> None:
        """The server will not show the kind."""
        self._state = ReflectorState.REFUSED
        self.failed(error)
