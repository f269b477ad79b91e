"""Pods as a leader sees them: straight from the store, but for nodes that it holds for dead."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.gang import GangKey
from tests.explorer.code.store import CountingStore


class View:
    """A watch without lag.

    What the ledger asks of pods never becomes untrue again, but for "unbound" and "not fenced",
    and on those it never relies without a version. So to see something later is to ask later,
    and that is explored.
    """

    def __init__(self, store: CountingStore) -> None:
        self.store = store
        self.dead: set[str] = set()

    def seen(self, uid: str) -> PodSeen | None:
        """The pod, None where it is gone."""
        return next((seen for seen in self.store.seen() if seen.pod.uid == uid), None)

    def usable(self, node: str) -> bool:
        """Every node but the dead ones."""
        return node not in self.dead

    def is_doubted(self, _node: str) -> bool:
        """Every node is well, or dead."""
        return False

    def running_on(self, node: str) -> Iterable[tuple[GangKey, Member]]:
        """Bound pods, with the gang that their annotation names."""
        for record in self.store.pods():
            seen = pod_seen(record.body)
            if seen.node == node and not seen.finished:
                gang = record.metadata["annotations"]["topology.scheduler/gang"]
                yield (
                    GangKey(record.namespace, gang),
                    Member(seen.pod, node, seen.devices),
                )
