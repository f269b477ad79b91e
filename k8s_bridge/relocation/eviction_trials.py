"""Trials of evictions: whether admission and budgets let pods go, asked before any of them goes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.running_gang import StandingGang

EVICTION_TRIAL_SECONDS = 10.0
"""Seconds that the API has for all trials of one plan; who has no answer by then stays."""
REFUSED_FIRST_SECONDS = 60.0
"""Seconds for which no plan lets a pod go whose eviction was refused; they double each time."""
REFUSED_LIMIT_SECONDS = 600.0
"""Seconds to which they grow."""


@dataclass(frozen=True, slots=True)
class RefusedEviction:
    """The API would not let `leaver` go, as the relocation `of` asks."""

    of: Relocation
    leaver: Leaver
    why: str


@dataclass(frozen=True, slots=True)
class _Remembered:
    """`why`, which counts `until` on the monotonic clock; it was to count for `seconds`."""

    why: str
    until: float
    seconds: float


@dataclass(slots=True, eq=False)
class EvictionTrials:
    """Trials of one term, and what they said. `cluster` is gated."""

    cluster: Cluster
    cache: ClusterCache
    clock: Clock
    observer: RelocationObserver
    _refused: dict[str, _Remembered] = field(default_factory=dict)

    def forbids(self, namespace: str, pods: Iterable[str]) -> str:
        """Why one of these pods may not go, as far as is remembered, "" otherwise."""
        now = self.clock.monotonic()
        for name in pods if self._refused else ():
            seen = self.cache.named(namespace, name)
            found = self._refused.get(seen.pod.uid) if seen else None
            if found is not None and found.until > now:
                return found.why
        return ""

    def forbids_gang(self, one: StandingGang) -> str:
        """Why one of the gang's members that run may not go, "" otherwise."""
        members = (pod for role in one.gang.roles for pod, _ in role.bound)
        return self.forbids(one.gang.key.namespace, members)

    async def refusals(self, plan: Iterable[Relocation]) -> list[RefusedEviction]:
        """Which pods of a plan that live the API would not let go, and why; it is remembered."""
        self._forget()
        asked = [(one, leaver) for one in plan for leaver in one.leavers if not leaver.lost]
        if not asked:
            return []
        tasks = [asyncio.ensure_future(self._refusal(leaver.pod)) for _, leaver in asked]
        timer = asyncio.ensure_future(self.clock.sleep(EVICTION_TRIAL_SECONDS))
        everything = asyncio.gather(*tasks)
        try:
            awaited: set[asyncio.Future[Any]] = {everything, timer}
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            answers = [
                task.result() if task.done() else "the API does not answer whether it may go"
                for task in tasks
            ]
        finally:
            timer.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(everything, return_exceptions=True)
        found = [
            RefusedEviction(one, leaver, why)
            for (one, leaver), why in zip(asked, answers, strict=True)
            if why
        ]
        for refused in found:
            self.remember(refused.leaver.pod, refused.why)
            self.observer.forbidden(refused.of, refused.leaver, refused.why)
        return found

    def remember(self, pod: Target, why: str) -> None:
        """Remember that the API did not let a pod go."""
        before = self._refused.get(pod.uid)
        seconds = (
            min(before.seconds * 2, REFUSED_LIMIT_SECONDS) if before else REFUSED_FIRST_SECONDS
        )
        self._refused[pod.uid] = _Remembered(why, self.clock.monotonic() + seconds, seconds)

    async def _refusal(self, pod: Target) -> str:
        try:
            await self.cluster.evict(pod, dry_run=True)
        except (NotFound, Conflict):
            # It is gone, or another by now; the watch will say so.
            return ""
        except ClusterError as error:
            return str(error)
        return ""

    def _forget(self) -> None:
        self._refused = {
            uid: one for uid, one in self._refused.items() if self.cache.seen(uid) is not None
        }
