"""No replica touches a record that it cannot read."""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.k8s_bridge.cluster.kinds import LEASES, Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange
from fourleaf.k8s_bridge.ledger.names import FORMAT
from tests.simulation.store import WatchedStore
from tests.simulation.story import Story


class Versions:
    """Law: whoever writes or deletes a record knows its format.

    `known` are the formats of each replica, by its identity.
    """

    def __init__(
        self, story: Story, store: WatchedStore, known: Mapping[str, tuple[int, ...]]
    ) -> None:
        self._story = story
        self._store = store
        self._known = known

    def on_change(self, kind: Kind, change: StoredChange) -> None:
        """Judge one write."""
        if kind is not LEASES or change.before is None:
            return
        said = (change.before.metadata.get("annotations") or {}).get(FORMAT, "1")
        writer = self._store.writer
        known = self._known.get(writer)
        if known is not None and int(said) not in known:
            what = f"{writer} knows {known}, {change.before.metadata['name']} is format {said}"
            self._story.broken("nobody touches what it cannot read", what)
