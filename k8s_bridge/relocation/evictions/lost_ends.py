"""Pods that are to end on nodes that have died since: no kubelet ends them any more.

A member that was taken for living is told to end in its own time, and its node is found dead a
moment later. Who makes no other before it is gone, as a StatefulSet, would wait without end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.election.request_turns import RequestTurns
from fourleaf.k8s_bridge.relocation.evictions.forbidden import is_forbidden, is_gone
from fourleaf.k8s_bridge.relocation.observer import LostPod
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.reasons.text import listed

LOST_END_RETRY_SECONDS = 2.0
LOST_END_RETRY_LIMIT_SECONDS = 30.0
"""Seconds after which a pod that could not be ended is tried again, and to which they grow."""
FINALIZER_SECONDS = 30.0
"""Seconds in which a controller removes its finalizer from a pod, as that of Jobs does."""


@dataclass(slots=True, eq=False)
class _Ending:
    """The next try is `due`, on the monotonic clock; while one `is_sent`, there is no other.

    Finalizers alone keep it since `kept_since`. `said` was told last of why it does not end.
    """

    backoff: Backoff
    due: float = 0.0
    is_sent: bool = False
    kept_since: float | None = None
    said: str = ""


@dataclass(slots=True, eq=False)
class LostEnds:
    """Ends such pods at once, where the config says so, in one term. `cluster` is gated.

    `on_kept` hears of each that does not end, and why, whenever that changes.
    """

    cluster: Cluster
    cache: ClusterCache
    clock: Clock
    turns: RequestTurns
    on_kept: Callable[[LostPod, str], None]
    _endings: dict[str, _Ending] = field(default_factory=dict)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def due(self, dead: frozenset[str]) -> list[LostPod]:
        """The pods of ours on `dead` nodes that are to be ended now, and no others any more."""
        is_wanted = self.cache.config.spec.repair.end_lost_pods_at_once
        lost = {one.pod.uid: one for one in self._lost(dead if is_wanted else frozenset())}
        new = {uid: _Ending(self._backoff()) for uid in lost.keys() - self._endings.keys()}
        self._endings = {uid: one for uid, one in self._endings.items() if uid in lost} | new
        now = self.clock.monotonic()
        due = []
        for uid, one in lost.items():
            ending = self._endings[uid]
            if one.finalizers:
                self._wait_for_finalizers(ending, one, now)
            elif ending.due <= now and not ending.is_sent:
                due.append(one)
        return due

    async def end(self, lost: LostPod) -> None:
        """Let a pod end without its grace period; one that is forbidden is asked for again.

        Not where its node is heard again by the time of its turn: what ran there would run on
        beside the pods that get its devices.
        """
        pod = lost.pod
        one = self._endings.get(pod.uid)
        if one is None:
            return
        one.is_sent = True
        one.due = self.clock.monotonic() + one.backoff.next(LOST_END_RETRY_SECONDS)
        try:
            async with self.turns.turn(pod.namespace):
                if self._endings.get(pod.uid) is not one:
                    return
                await self.cluster.evict(pod, at_once=True)
        except ClusterError as error:
            if is_gone(error):
                return
            self._log.warning("lost_pod_not_ended", pod=str(pod), why=str(error))
            if is_forbidden(error):
                self._tell(one, lost, str(error))
            least = max(LOST_END_RETRY_SECONDS, error.retry_after or 0.0)
            one.due = self.clock.monotonic() + one.backoff.next(least)
        else:
            self._log.info("lost_pod_ended", pod=str(pod))
        finally:
            one.is_sent = False

    def _wait_for_finalizers(self, ending: _Ending, lost: LostPod, now: float) -> None:
        if ending.kept_since is None:
            ending.kept_since = now
        if now - ending.kept_since >= FINALIZER_SECONDS:
            self._tell(ending, lost, f"its finalizers keep it: {listed(lost.finalizers)}")

    def _tell(self, ending: _Ending, lost: LostPod, why: str) -> None:
        if ending.said != why:
            ending.said = why
            self.on_kept(lost, why)

    def _lost(self, dead: frozenset[str]) -> Iterator[LostPod]:
        if not dead:
            # Asked for several times a second, and a reading takes in all that has changed.
            return
        reading, bodies = self.cache.reading(), self.cache.objects.get(PODS, {})
        for node in sorted(dead):
            for gang, uid in reading.ours_on(node):
                seen = self.cache.seen(uid)
                if seen is None or seen.finished or not seen.deleting:
                    continue
                body = bodies.get((seen.pod.namespace, seen.pod.name), {})
                metadata = body.get("metadata", {})
                if metadata.get("deletionGracePeriodSeconds") != 0:
                    yield LostPod(gang, seen.pod, node)
                elif finalizers := metadata.get("finalizers"):
                    # With no time left, only these keep it.
                    yield LostPod(gang, seen.pod, node, tuple(map(str, finalizers)))

    def _backoff(self) -> Backoff:
        return Backoff(self.clock, LOST_END_RETRY_SECONDS, LOST_END_RETRY_LIMIT_SECONDS)
