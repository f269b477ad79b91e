"""A store that shows each change to those who judge, as it is made."""

from __future__ import annotations

from typing import Protocol

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.runtime.clock import Clock


class Judge(Protocol):
    """Looks at every change of the store."""

    def on_change(self, kind: Kind, change: StoredChange) -> None:
        """A write has taken; `before` or `after` is missing where the object came or went."""
        ...


class WatchedStore(MemoryStore):
    """The twin's store; `writer` is whoever's request is being done."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self.judges: list[Judge] = []
        self.writer = ""
        super().__init__(clock, seed)

    def _put(self, kind: Kind, before: StoredObject | None, body: Body) -> StoredObject:
        made = super()._put(kind, before, body)
        self._show(kind, StoredChange(made.version, before, made))
        return made

    def _remove(self, record: StoredObject) -> None:
        super()._remove(record)
        self._show(record.kind, StoredChange(self.version, record))

    def _show(self, kind: Kind, change: StoredChange) -> None:
        for judge in self.judges:
            judge.on_change(kind, change)
