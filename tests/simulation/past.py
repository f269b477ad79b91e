"""What the lists were some seconds ago."""

from __future__ import annotations

from collections import deque

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject
from fourleaf.k8s_bridge.cluster.memory.selectors import parse
from fourleaf.k8s_bridge.cluster.protocol import Listing
from tests.twins.virtual_clock import VirtualClock


class Past:
    """Keeps every change with its moment, and can say what a list was then."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._changes: dict[Kind, deque[tuple[float, StoredChange]]] = {}

    def on_change(self, kind: Kind, change: StoredChange) -> None:
        """Keep it."""
        moment = self._clock.monotonic()
        self._changes.setdefault(kind, deque()).append((moment, change))

    def listing(self, kind: Kind, seconds: float, namespace: str, labels: str) -> Listing | None:
        """All objects of `kind` so many seconds ago; None where there had been none yet."""
        then = self._clock.monotonic() - seconds
        there: dict[tuple[str, str], StoredObject] = {}
        version = 0
        for moment, change in self._changes.get(kind, ()):
            if moment > then:
                break
            version = change.version
            one = change.after or change.before
            assert one is not None
            key = (one.namespace, one.metadata["name"])
            if change.after is None:
                there.pop(key, None)
            else:
                there[key] = change.after
        if not version:
            return None
        selector = parse(labels)
        items = [
            record.listed()
            for key, record in sorted(there.items())
            if selector(record.labels) and (not namespace or key[0] == namespace)
        ]
        return Listing(items, str(version))
