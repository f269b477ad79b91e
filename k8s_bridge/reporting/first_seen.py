"""When pods that wait were first seen: creationTimestamp has whole seconds, which is too coarse."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.runtime.clock import Clock

WHOLE_SECOND = 1.0
"""How much earlier than it was a creationTimestamp may say that something was."""


class FirstSeen:
    """Remembers of each pod without a node when it came."""

    def __init__(self, cache: ClusterCache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock
        self._at: dict[str, float] = {}
        cache.listen(self._on_pod)

    def _on_pod(self, uid: str) -> None:
        seen = self._cache.seen(uid)
        if seen is None or seen.node:
            self._at.pop(uid, None)
        else:
            self._at.setdefault(uid, self._clock.wall())

    def waits_since(self, created: float, uids: Iterable[str]) -> float:
        """Since when, in seconds since the epoch, a gang of these pods could be planned.

        `created` is what its newest pod says, or the moment in which its last gate went. Where the
        last pod came within the same second, that moment counts.
        """
        came = max((self._at.get(uid, created) for uid in uids), default=created)
        return came if 0.0 <= came - created < WHOLE_SECOND else created
