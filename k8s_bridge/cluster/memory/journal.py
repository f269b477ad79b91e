"""What happened to the objects of one kind, for watches to read from where they stand."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncIterator
from operator import attrgetter

from fourleaf.k8s_bridge.cluster.errors import Gone
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject
from fourleaf.k8s_bridge.cluster.memory.selection import Predicate
from fourleaf.k8s_bridge.cluster.protocol import WatchEvent, opened


class WatchJournal:
    """The changes to one kind, oldest first; at most `keep` of them."""

    def __init__(self, kind: Kind, keep: int) -> None:
        self.kind = kind
        self.compacted = 0
        self._changes: deque[StoredChange] = deque()
        self._keep = keep
        self._first = 0
        self._round = 0
        self._waiting: dict[asyncio.Event, None] = {}

    def add(self, change: StoredChange) -> None:
        """Add the newest change and wake the watches that wait for it."""
        self._changes.append(change)
        if len(self._changes) > self._keep:
            self.compact(self._changes[0].version)
        self._wake()

    def compact(self, version: int) -> None:
        """Forget what happened up to `version`: watches that have not read it end as `Gone`."""
        self.compacted = max(self.compacted, version)
        while self._changes and self._changes[0].version <= version:
            self._changes.popleft()
            self._first += 1
        self._wake()

    def end(self) -> None:
        """End all running watches, as a server does now and then."""
        self._round += 1
        self._wake()

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()

    async def events(
        self, version: int, namespace: str, selects: Predicate
    ) -> AsyncIterator[WatchEvent]:
        """`OPENED`, then what happens after `version`, until `end`. Raises `Gone`."""
        if version < self.compacted:
            raise _gone(version, self.compacted)
        position = self._first + bisect_right(self._changes, version, key=attrgetter("version"))
        started, wake = self._round, asyncio.Event()
        self._waiting[wake] = None
        try:
            yield opened(str(version))
            while started == self._round:
                if position < self._first:
                    raise _gone(version, self.compacted)
                if position - self._first == len(self._changes):
                    wake.clear()
                    await wake.wait()
                    continue
                change = self._changes[position - self._first]
                position += 1
                version = change.version
                event = self._event(change, namespace, selects)
                if event is not None:
                    yield event
        finally:
            self._waiting.pop(wake, None)

    def _event(self, change: StoredChange, namespace: str, selects: Predicate) -> WatchEvent | None:
        def seen(record: StoredObject | None) -> bool:
            if record is None or (namespace and record.namespace != namespace):
                return False
            return selects(record)

        if change.before is None and change.after is None:
            return bookmark(change.version)
        was, is_now = seen(change.before), seen(change.after)
        if change.after is not None and is_now:
            return WatchEvent("MODIFIED" if was else "ADDED", change.after.listed())
        if was and change.before is not None:
            body = change.before.listed()
            body["metadata"]["resourceVersion"] = str(change.version)
            return WatchEvent("DELETED", body)
        return None


def bookmark(version: int) -> WatchEvent:
    """The event that says that all up to `version` has been sent."""
    body = {"metadata": {"resourceVersion": str(version)}}
    return WatchEvent("BOOKMARK", body)


def _gone(version: int, compacted: int) -> Gone:
    return Gone(f"too old resource version: {version} ({compacted})", 410, "Expired")
