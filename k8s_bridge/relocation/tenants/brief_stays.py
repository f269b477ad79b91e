"""Gangs that others made way for and that did not stay: their namespace has to wait after that.

Who may preempt could otherwise take one running gang after the other out, with pods that it deletes
as soon as they run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey


@dataclass(slots=True, eq=False)
class BriefStays:
    """Namespaces that have others evicted for nothing, in one term; the next leader begins anew."""

    cache: ClusterCache
    clock: Clock
    _served: dict[GangKey, float] = field(default_factory=dict)
    """Gang that pods were evicted for -> when that was over, on the monotonic clock."""
    _barred: dict[str, float] = field(default_factory=dict)
    """Namespace -> until when it has no pod evicted, on the monotonic clock."""

    def ended(self, one: Relocation) -> None:
        """A relocation is over: note the gang, where pods had to go for it."""
        if one.purpose is Purpose.PREEMPTION and any(
            (seen := self.cache.seen(leaver.pod.uid)) is None or seen.deleting
            for leaver in one.leavers
        ):
            self._served[one.gang] = self.clock.monotonic()

    def look(self, view: ClusterView, seconds: float) -> None:
        """Note the gangs that are gone within so many seconds of that."""
        now = self.clock.monotonic()
        self._barred = {name: until for name, until in self._barred.items() if until > now}
        if not self._served:
            return
        running = {pod.gang for pod in view.reading.snapshot.running if pod.ours}
        # Members that move are gone for a moment.
        running |= {one.gang for one in view.open if one.purpose is Purpose.REPAIR}
        for gang, at in list(self._served.items()):
            if at + seconds <= now:
                del self._served[gang]
            elif gang not in view.gangs and gang not in running:
                del self._served[gang]
                self._barred[gang.namespace] = max(at + seconds, self.wait(gang.namespace) + now)

    def wait(self, namespace: str) -> float:
        """Seconds until pods may be evicted for gangs of a namespace again."""
        return max(0.0, self._barred.get(namespace, 0.0) - self.clock.monotonic())
