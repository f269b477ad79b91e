"""Gangs that stay longer than they declared, and what that costs them and their namespace.

What a gang declares lets it use room that is kept for another one until then. So what a pod has
declared first counts, whatever its annotations say later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey
from fourleaf.model.running_gang import StandingGang
from fourleaf.solver.forecast.timeline import OVERDUE_SECONDS

BARRED_SECONDS = 3600.0
"""Seconds for which a namespace uses no kept room after a gang of it was overdue."""


@dataclass(slots=True, eq=False)
class Overstays:
    """Who overstays, in one term; the next leader begins anew."""

    clock: Clock
    _ends: dict[str, float] = field(default_factory=dict)
    """UID of a running pod -> the earliest end that it has declared, in seconds since the epoch."""
    _overdue: frozenset[GangKey] = frozenset()
    _lent: set[GangKey] = field(default_factory=set)
    _barred: dict[str, float] = field(default_factory=dict)
    """Namespace -> until when it is, on the monotonic clock."""

    def look(self, view: ClusterView) -> None:
        """Take note of what has been declared, and of what is over."""
        ends: dict[str, float] = {}
        overdue: set[GangKey] = set()
        there: set[GangKey] = set(view.gangs) if self._lent else set()
        for pod in view.reading.snapshot.running:
            if not pod.ours or pod.gang is None:
                continue
            if self._lent:
                there.add(pod.gang)
            if pod.ends is None and not self._ends:
                # Most clusters have no pod that declares an end, and there are many pods.
                continue
            uid = view.reading.uids.get((pod.namespace, pod.name), "")
            declared = [end for end in (pod.ends, self._ends.get(uid)) if end is not None]
            if declared:
                ends[uid] = min(declared)
                if ends[uid] + OVERDUE_SECONDS < view.now:
                    overdue.add(pod.gang)
        now = self.clock.monotonic()
        self._ends, self._overdue = ends, frozenset(overdue)
        self._lent &= there
        self._barred = {name: until for name, until in self._barred.items() if until > now}
        self._barred |= {gang.namespace: now + BARRED_SECONDS for gang in overdue}

    def is_barred(self, namespace: str) -> bool:
        """Whether a namespace may use no kept room."""
        return namespace in self._barred

    def placed(self, gangs: Iterable[GangKey], offered: Collection[GangKey]) -> None:
        """A plan has placed these gangs, those of `offered` in room that is kept for others.

        They have it lent for as long as they have declared; the others owe their place to nothing.
        """
        for gang in gangs:
            if gang in offered:
                self._lent.add(gang)
            else:
                self._lent.discard(gang)

    def squatters(self, gang: GangKey, view: ClusterView) -> frozenset[GangKey]:
        """The gangs that were lent room that is kept for `gang`, and do not give it back."""
        late = self._overdue & self._lent
        nodes = {seat.node for one in view.open if late and one.gang == gang for seat in one.seats}
        return frozenset(
            pod.gang
            for node in nodes
            for pod in view.reading.snapshot.on_node.get(node, ())
            if pod.gang is not None and pod.gang in late
        )

    def first(self, gangs: Sequence[StandingGang]) -> list[StandingGang]:
        """Possible victims, the overdue ones as of a lower priority than all others."""
        lowest = min((one.gang.priority for one in gangs), default=0) - 1
        return [
            replace(one, gang=replace(one.gang, priority=lowest))
            if one.gang.key in self._overdue
            else one
            for one in gangs
        ]
