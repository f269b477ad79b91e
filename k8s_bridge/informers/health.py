"""How well a kind is reflected, for metrics and readiness."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.runtime.clock import Clock


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
    list, an event or a bookmark. `restarts` counts watches after the first of a list, `relists`
    lists after the first, `stale` lists that were older than what was seen already, `failures`
    requests without a useful answer, `last_error` and `last_failed` the last one's text and time.
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

    def age(self, now: float) -> float:
        """Seconds since the server was last heard of; infinite before the first time."""
        return float("inf") if self.last_heard is None else max(0.0, now - self.last_heard)

    def ready(self, now: float, oldest: float) -> bool:
        """Whether decisions may rest on it: not served at all, or heard within `oldest` seconds."""
        if self.state is ReflectorState.ABSENT:
            return True
        return self.synced_since is not None and self.age(now) <= oldest


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

    def read(self) -> Health:
        """How it is now."""
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
        self._failing = False
        self._synced_since = self._last_heard = self._clock.monotonic()

    def heard(self, event: bool) -> None:
        """A bookmark has come, or an event."""
        self._last_heard = self._clock.monotonic()
        self._events += event
        self._failing = False

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
        return first

    def absent(self) -> None:
        """The kind is not served."""
        self._state = ReflectorState.ABSENT
        self._synced_since = None

    def refused(self, error: Exception) -> None:
        """The server will not show the kind."""
        self._state = ReflectorState.REFUSED
        self.failed(error)
