"""A store that shows each change to those who judge, as it is made."""

from __future__ import annotations

from typing import Protocol

from fourleaf.k8s_bridge.clock import Clock
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.records import Change, Record
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body


class Judge(Protocol):
    """Looks at every change of the store."""

    def on_change(self, kind: Kind, change: Change) -> None:
        """A write has taken; `before` or `after` is missing where the object came or went."""
        ...


class WatchedStore(MemoryStore):
    """The twin's store; `writer` is whoever's request is being done."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self.judges: list[Judge] = []
        self.writer = ""
        super().__init__(clock, seed)

    def _put(self, kind: Kind, before: Record | None, body: Body) -> Record:
        made = super()._put(kind, before, body)
        self._show(kind, Change(made.version, before, made))
        return made

    def _remove(self, record: Record) -> None:
        super()._remove(record)
        self._show(record.kind, Change(self.version, record))

    def _show(self, kind: Kind, change: Change) -> None:
        for judge in self.judges:
            judge.on_change(kind, change)
