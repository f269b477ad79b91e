"""Which write an event comes to: a new Event, a higher count in an old one, or none."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.kinds import EVENTS
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped, microsecond

CONTROLLER = "topology-aware-scheduler"
"""Who reports; kubectl shows it in the column From."""

QUIET_SECONDS = 600.0
"""The same event after a longer silence starts a new series."""
WRITE_SECONDS = 60.0
"""How often a series is written at most."""
_MOST_SERIES = 10_000
_NAME_BYTES = 230
_INSTANCE_BYTES = 128


@dataclass(slots=True)
class _Run:
    target: Target
    count: int
    seen_at: float
    written_at: float


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An Event to be created."""

    namespace: str
    body: Body


@dataclass(frozen=True, slots=True)
class Recount:
    """A merge patch for an Event that exists."""

    target: Target
    patch: Body


class Series:
    """Remembers the events of the last ten minutes. `instance` names this `controller`'s process.

    The count in the cluster lags by what happens within a minute of its last write.
    """

    def __init__(self, instance: str, controller: str = CONTROLLER) -> None:
        self._controller = controller
        self._instance = clipped(instance, _INSTANCE_BYTES)
        self._runs: OrderedDict[Hashable, _Run] = OrderedDict()
        self._number = 0

    def next(self, event: Event, now: float) -> NewEvent | Recount | None:
        """What is to be written for `event`, which happens at `now` (seconds on the wall)."""
        run = self._runs.get(event.key)
        if run is None or now - run.seen_at > QUIET_SECONDS:
            return self._start(event, now)
        self._runs.move_to_end(event.key)
        run.count += 1
        run.seen_at = now
        if now - run.written_at < WRITE_SECONDS:
            return None
        run.written_at = now
        series = {"count": run.count, "lastObservedTime": microsecond(now)}
        return Recount(run.target, {"series": series})

    def forget(self, event: Event) -> None:
        """The write came to nothing: the next one of this kind starts anew."""
        self._runs.pop(event.key, None)

    def _start(self, event: Event, now: float) -> NewEvent:
        self._number += 1
        body = event_body(event, self._instance, now, self._number, self._controller)
        metadata = body["metadata"]
        target = Target(metadata["namespace"], metadata["name"])
        self._runs[event.key] = _Run(target, 1, now, now)
        self._runs.move_to_end(event.key)
        self._drop(now)
        return NewEvent(target.namespace, body)

    def _drop(self, now: float) -> None:
        """Forget what is over, or too much: the object of a series may be gone."""
        while self._runs:
            oldest = next(iter(self._runs))
            silent = now - self._runs[oldest].seen_at > QUIET_SECONDS
            if not silent and len(self._runs) <= _MOST_SERIES:
                return
            del self._runs[oldest]


def event_body(
    event: Event, instance: str, now: float, number: int, controller: str = CONTROLLER
) -> Body:
    """The Event as events.k8s.io/v1 takes it; `number` makes those of one moment differ."""
    about = event.regarding
    stem = about.name.encode()[:_NAME_BYTES].decode(errors="ignore").rstrip("-.")
    return {
        "apiVersion": EVENTS.api_version,
        "kind": EVENTS.name,
        "metadata": {
            "name": f"{stem}.{int(now * 1e6):x}{number & 0xFFFF:04x}",
            "namespace": about.namespace or "default",
        },
        "eventTime": microsecond(now),
        "reportingController": event.controller or controller,
        "reportingInstance": instance,
        "action": event.action,
        "reason": event.reason,
        "regarding": _reference(about),
        "note": clipped(event.note),
        "type": "Warning" if event.warning else "Normal",
    }


def _reference(about: Regarding) -> Body:
    named = {"namespace": about.namespace, "name": about.name, "uid": about.uid}
    return {
        "apiVersion": about.kind.api_version,
        "kind": about.kind.name,
        **{key: value for key, value in named.items() if value},
    }
