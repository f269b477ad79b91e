"""All that a leader observes, as new as the store: a watch without lag."""

from __future__ import annotations

from collections.abc import Container, Iterator

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS, PRIORITY_CLASSES
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.informers import Removed
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.live import LiveReading
from fourleaf.model.running_gang import StandingGang
from tests.explorer.relocation.store import JudgingStore


class Sight(ClusterCache):
    """The real thing, which takes in what has changed whenever somebody looks.

    To look later is explored, to see less than there is to see is not: the simulation does that.
    """

    def __init__(self, store: JudgingStore, clock: Clock) -> None:
        super().__init__(clock)
        self.store = store
        self.dead: set[str] = set()
        self._at = -1
        self._taken: dict[tuple[str, str], StoredObject] = {}
        for kind in (NODES, PRIORITY_CLASSES):
            for record in store.records(kind):
                self.take(kind, record.listed())

    def lose(self, nodes: frozenset[str]) -> None:
        """Hold these nodes for dead."""
        self.dead = set(nodes)
        self.judge(nodes, {})

    def look(self) -> None:
        """Take in every pod as it is now."""
        if self._at == self.store.writes:
            return
        self._at = self.store.writes
        now = dict(self.store._objects.get(PODS, {}))
        for key, record in self._taken.items():
            if key not in now or now[key].metadata["uid"] != record.metadata["uid"]:
                self.on_change(PODS, Removed(record.listed()))
        for key, record in now.items():
            if self._taken.get(key) is not record:
                self.take(PODS, record.listed())
        self._taken = now

    def reading(self) -> LiveReading:
        """What there is to plan, now."""
        self.look()
        return super().reading()

    def seen(self, uid: str) -> PodSeen | None:
        """The pod, None where it is gone."""
        self.look()
        return super().seen(uid)

    def named(self, namespace: str, name: str) -> PodSeen | None:
        """The pod of that name, None where there is none."""
        self.look()
        return super().named(namespace, name)

    def running_on(self, node: str) -> Iterator[tuple[GangKey, Member]]:
        """The pods of ours on the node."""
        self.look()
        return super().running_on(node)

    def standing(self, dead: Container[str], everyone: bool = False) -> list[StandingGang]:
        """The gangs that run."""
        self.look()
        return super().standing(dead, everyone)
