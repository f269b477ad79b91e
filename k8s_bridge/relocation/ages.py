"""Ages of relocations, and of the ends of their pods, on a clock that is not set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import Gang, GangKey

LONGEST_GRACE_SECONDS = 3600.0
"""Seconds that a pod may give itself to end, at most; gangs wait for its room no longer."""
USUAL_GRACE_SECONDS = 30.0
"""Seconds where nothing is stated."""
OVERDUE_END_SECONDS = 120.0
"""Seconds after its grace period for which a pod may still end: volumes are unmounted meanwhile."""


class RelocationAges:
    """For how long relocations are open, for one leader: monotonic since it has seen them first.

    No wall clock counts: one that was set, or that of a leader whose clock is another, would take
    the places of pods that were evicted for them. That costs time where another leads: it begins
    to count anew, so that places in vain are kept for up to their whole time once more.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._opened: dict[tuple[GangKey, float], float] = {}
        """Gang and time of a relocation -> when it was opened, on the monotonic clock."""
        self._told: dict[tuple[GangKey, float], float] = {}
        """The same -> when the API last let a pod go for it."""

    def told(self, one: Relocation) -> None:
        """The API has let a pod go for it."""
        self._told[one.gang, one.opened] = self.clock.monotonic()

    def idle(self, there: Sequence[Relocation]) -> dict[GangKey, float]:
        """Seconds for which none was let go for these, which are all, since they were opened."""
        now, known = self.clock.monotonic(), self._told
        self._told = {
            key: known[key] for one in there for key in [(one.gang, one.opened)] if key in known
        }
        return {gang: now - told for (gang, _), told in self._told.items()}

    def of(self, there: Sequence[Relocation]) -> dict[GangKey, float]:
        """Seconds for which these, which are all that there are, have been open."""
        now, known = self.clock.monotonic(), self._opened
        self._opened = {
            key: known.get(key, now) for one in there for key in [(one.gang, one.opened)]
        }
        return {gang: now - opened for (gang, _), opened in self._opened.items()}


class WaitingAges:
    """For how long gangs wait, for one leader: what the wall clock says of one that it sees first.

    From then on the monotonic clock counts, as of a wall clock that is set either no gang would get
    its turn, or all of them at once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[tuple[GangKey, float], float] = {}
        """Gang, and when it was made -> since when it waits, on the monotonic clock."""

    def look(self, gangs: Iterable[Gang], now: float) -> None:
        """Take note of all gangs that wait `now`, in seconds since the epoch."""
        known, at = self._since, self._clock.monotonic()
        self._since = {
            key: known[key] if key in known else at - max(0.0, now - one.created)
            for one in gangs
            for key in [(one.key, one.created)]
        }

    def of(self, gang: Gang) -> float:
        """Seconds for which one of them waits; 0 for others."""
        now = self._clock.monotonic()
        return now - self._since.get((gang.key, gang.created), now)


class PodEnds:
    """Which pods that were told to end are overdue, for one leader.

    A finalizer that is never taken off, or a kubelet that does nothing, keeps a pod for ever.
    """

    def __init__(self, cache: ClusterCache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock
        self._told: dict[str, float] = {}
        """UID -> since when the pod is known to end, on the monotonic clock."""

    def overdue(self, there: Sequence[Relocation]) -> frozenset[str]:
        """UIDs of the leavers of these, which are all that there are, that should have ended."""
        now, told = self._clock.monotonic(), self._told
        ending = [
            leaver.pod
            for one in there
            for leaver in one.leavers
            if (seen := self._cache.seen(leaver.pod.uid)) and seen.deleting and not seen.finished
        ]
        self._told = {pod.uid: told.get(pod.uid, now) for pod in ending}
        return frozenset(
            pod.uid
            for pod in ending
            if now - self._told[pod.uid] >= seconds_to_end(self._cache, pod)
        )


def seconds_to_end(cache: ClusterCache, pod: Target) -> float:
    """Seconds that a pod has from when it is told to end until it is overdue."""
    return grace_seconds(cache, pod) + OVERDUE_END_SECONDS


def grace_seconds(cache: ClusterCache, pod: Target) -> float:
    """Seconds that a pod that was told to end has for that."""
    body = cache.objects.get(PODS, {}).get((pod.namespace, pod.name), {})
    found = body.get("metadata", {}).get("deletionGracePeriodSeconds")
    grace = float(found) if isinstance(found, int) else USUAL_GRACE_SECONDS
    return min(grace, LONGEST_GRACE_SECONDS)
