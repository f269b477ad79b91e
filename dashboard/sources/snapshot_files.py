"""A cluster in files, as `fourleaf snapshot` writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from fourleaf.dashboard.sources.history import HistoryView
from fourleaf.dashboard.sources.lease_records import events_of, records_of
from fourleaf.dashboard.sources.source import Body, ClusterMoment
from fourleaf.model.gang import GangKey
from fourleaf.model.problems import BadInput, Problem, Severity
from fourleaf.model.readers import Source, read
from fourleaf.model.readers.overlay import read_beside
from fourleaf.model.readers.text.json import BadText
from fourleaf.model.readers.text.sources import documents
from fourleaf.model.snapshot import Snapshot


class FileSource:
    """What `sources` hold; it never changes. Raises `BadInput` where that is no cluster."""

    live = False
    unsynced: tuple[str, ...] = ()

    def __init__(self, name: str, sources: Sequence[Source], now: float | None = None) -> None:
        self.name = name
        reading = read(sources, now)
        if not reading.snapshot.fabric.leaves:
            advice = "Name a file that `fourleaf snapshot` wrote, or one with nodes in it."
            raise BadInput([Problem(Severity.ERROR, name, "Node", "", "", "holds no node", advice)])
        self._objects = tuple(_objects(sources))
        self._whole = reading.members.situation.whole
        self._moment = ClusterMoment(
            1,
            reading.snapshot,
            reading.problems,
            reading.pods,
            reading.standing,
            reading.eviction_limits,
        )

    def moment(self) -> ClusterMoment:
        """What the files hold."""
        return self._moment

    async def synced(self) -> None:
        """Return at once: nothing more will ever be known."""

    async def changed(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    def beside(self, given: Sequence[Source]) -> Snapshot:
        """What there would be to plan with `given` on top. Raises `BadInput`."""
        objects = [dict(one) for one in self._objects]
        now, whole = self._moment.snapshot.now, self._whole
        return read_beside(self.name, objects, given, now, whole=whole).snapshot

    async def history(self, gang: GangKey, pods: Sequence[str]) -> HistoryView:
        """What Leases and events among the files say of a gang."""
        leases = (one for one in self._objects if one.get("kind") == "Lease")
        events = (one for one in self._objects if one.get("kind") == "Event")
        return HistoryView(
            records=records_of(gang, leases), happenings=events_of(gang, pods, events), unknown=()
        )


def _objects(sources: Sequence[Source]) -> list[Body]:
    found: list[Body] = []
    for source in sources:
        try:
            whole = documents(source)
        except BadText:
            continue
        for document in whole:
            found += _flat(document)
    return found


def _flat(document: Any) -> list[Body]:
    """The objects of a document: itself, or what its lists hold."""
    if not isinstance(document, dict):
        return []
    items = document.get("items")
    if isinstance(items, list):
        return [one for item in items for one in _flat(item)]
    return [document]
