"""Recorder: writes Events and status patches in the background; may drop them.

Nothing is decided by what is written, and no cycle waits for it. Writes give way while pods are
bound, but not for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.election.gate import NotLeader
from fourleaf.k8s_bridge.reporting.recorder.event_series import CONTROLLER, NewEvent, Series
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Outgoing, StatusPatch
from fourleaf.k8s_bridge.reporting.recorder.write_queue import (
    QueueCounts,
    QueueLimits,
    WriteQueue,
    never,
)
from fourleaf.k8s_bridge.runtime.clock import Clock

EVENT_LIMITS = QueueLimits(waiting=5_000, rate=25.0, burst=250.0)
"""10,000 bound pods take their events about seven minutes, or lose some; binding comes first."""
STATUS_LIMITS = QueueLimits(waiting=20_000, rate=100.0, burst=500.0, writers=4)
"""10,000 pending pods have their conditions after a minute and a half."""


@dataclass(frozen=True, slots=True)
class WriteLimits:
    """How fast events and statuses may be written."""

    events: QueueLimits = EVENT_LIMITS
    statuses: QueueLimits = STATUS_LIMITS


class Recorder:
    """Writes Events and status patches to `cluster`, as `instance` of `controller`.

    `took` is shown each object whose status was written, as the write left it: bindings need
    its new version before the watch brings it. Nothing is written while `held` says so. `again`
    is called where an object had changed, which starts no cycle by itself: its status is to be
    worked out again.
    """

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        instance: str,
        took: Callable[[Kind, Body], None] | None = None,
        limits: WriteLimits | None = None,
        held: Callable[[], bool] = never,
        controller: str = CONTROLLER,
        again: Callable[[], None] | None = None,
    ) -> None:
        limits = limits or WriteLimits()
        self._took = took
        self._again = again
        self._cluster = cluster
        self._clock = clock
        self._series = Series(instance, controller)
        self._events: WriteQueue[Event] = WriteQueue(
            "events",
            clock,
            limits.events,
            self._write_event,
            held,
            lambda event: event.regarding.namespace,
        )
        self._statuses: WriteQueue[StatusPatch] = WriteQueue(
            "statuses",
            clock,
            limits.statuses,
            self._write_status,
            held,
            lambda status: status.target.namespace,
        )

    @property
    def events(self) -> QueueCounts:
        """What became of the events."""
        return self._events.counts

    @property
    def statuses(self) -> QueueCounts:
        """What became of the statuses."""
        return self._statuses.counts

    @property
    def waiting(self) -> int:
        """How many Events and status patches are not written yet."""
        return len(self._events) + len(self._statuses)

    def record(self, outgoing: Iterable[Outgoing]) -> None:
        """Have these written some time soon. Returns at once and never raises."""
        for item in outgoing:
            if isinstance(item, StatusPatch):
                self._statuses.put(item.key, item)
            else:
                self._events.put(item.key, item)

    def discard(self, pods: Iterable[tuple[str, str]]) -> None:
        """Write no status to these pods (namespace, name): they are about to be bound."""
        self._statuses.drop((PODS, namespace, name) for namespace, name in pods)

    def clear(self) -> None:
        """Forget what is not written yet: another replica leads now."""
        self._events.clear()
        self._statuses.clear()

    async def run(self) -> None:
        """Write what is recorded, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._events.run())
            group.create_task(self._statuses.run())

    async def settle(self) -> None:
        """Wait until everything is written; needs `run`."""
        await self._events.settle()
        await self._statuses.settle()

    async def _write_status(self, item: StatusPatch) -> None:
        """Write a status; `Conflict` where the object has changed: it will be patched again."""
        status = {"status": item.status}
        try:
            body = await self._cluster.patch(item.kind, item.target, status, "status")
        except Conflict:
            # What an earlier patch has made of it is known already, and starts no cycle.
            if self._again is not None:
                self._again()
            raise
        if self._took is not None:
            self._took(item.kind, body)

    async def _write_event(self, item: Event) -> None:
        write = self._series.next(item, self._clock.wall())
        if write is None:
            return
        try:
            if isinstance(write, NewEvent):
                await self._cluster.create(EVENTS, write.namespace, write.body)
            else:
                await self._cluster.patch(EVENTS, write.target, write.patch)
        except (ClusterError, NotLeader):
            self._series.forget(item)
            raise


YIELD_LIMIT_SECONDS = 5.0
"""Seconds that writes wait at most while binding goes on and on."""


class YieldToBinding:
    """Whether writes wait now: `busy`, and for less than `YIELD_LIMIT_SECONDS`."""

    def __init__(self, busy: Callable[[], bool], clock: Clock) -> None:
        self._busy = busy
        self._clock = clock
        self._since: float | None = None

    def __call__(self) -> bool:
        """Whether to wait."""
        if not self._busy():
            self._since = None
            return False
        now = self._clock.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since < YIELD_LIMIT_SECONDS
