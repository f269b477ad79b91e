"""Takes every relocation a step further: evicts, lets go of places, says when to bind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound, Throttled
from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.next_action import progress
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import together
from fourleaf.model.gang import GangKey

EVICTION_RETRY_SECONDS = 2.0
"""Seconds after which an eviction that was forbidden, or may have got lost, is asked again."""


class RelocationObserver(Protocol):
    """Observes relocations."""

    def evicted(self, one: Relocation, leaver: Leaver) -> None:
        """A pod is being evicted."""

    def forbidden(self, one: Relocation, leaver: Leaver, why: str) -> None:
        """A disruption budget, or the API, does not let a pod go for now."""

    def stranded(self, gang: GangKey, pod: Target, why: str) -> None:
        """A gang has lost members, `pod` among them, and cannot be repaired for now."""

    def unyielding(self, pod: Target, why: str) -> None:
        """Lower gangs may not give way to the gang of `pod`, which waits."""

    def relocated(self, one: Relocation, why: str, seconds: float) -> None:
        """The relocation is over, after that long; `why` it ended early, "" where it served."""


@dataclass(slots=True, eq=False)
class Executor:
    """Works on the relocations of one term. `cluster` is gated."""

    cluster: Cluster
    cache: ClusterCache
    store: RelocationStore
    clock: Clock
    observer: RelocationObserver
    _asked: dict[str, float] = field(default_factory=dict)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    async def step(self, dead: frozenset[str]) -> None:
        """One step of each relocation. Raises `Fenced` where another leads by now."""
        view = self.view(dead)
        self._forget(view)
        for one in view.open:
            if not self.store.holds(one) or self._is_sealed(one):
                continue
            found = progress(one, view)
            if found.over:
                await self.end(one, found.why)
            elif due := self._due(found.evict):
                await self.store.check_lead()
                # It may have ended while the API answered; its leavers are others' by then.
                if self.store.holds(one):
                    await together(self._evict(one, leaver) for leaver in due)
            elif found.placed is not None:
                self.cache.changed.set()

    def view(self, dead: frozenset[str]) -> ClusterView:
        """The cluster now."""
        now = self.clock.wall()
        return ClusterView(self.cache, self.cache.reading(), tuple(self.store), dead, now)

    async def end(self, one: Relocation, why: str) -> None:
        """Keep nothing for it any longer; `why` it ends early, "" where it has served."""
        if not await self.store.drop(one.gang):
            return
        seconds = self.clock.wall() - one.opened
        self._log.info(
            "relocation_over", gang=str(one.gang), purpose=one.purpose, why=why, seconds=seconds
        )
        self.observer.relocated(one, why, seconds)
        self.cache.changed.set()

    def _is_sealed(self, one: Relocation) -> bool:
        """Whether a record that cannot be read is about its gang or nodes."""
        ledger = self.store.ledger
        nodes = {leaver.node for leaver in one.leavers}
        return bool(ledger.sealed) and (
            one.gang in ledger.sealed_gangs or not nodes.isdisjoint(ledger.sealed.nodes)
        )

    def _due(self, leavers: Sequence[Leaver]) -> list[Leaver]:
        now = self.clock.monotonic()
        due = [one for one in leavers if self._asked.get(one.pod.uid, 0.0) <= now]
        self._asked |= {one.pod.uid: now + EVICTION_RETRY_SECONDS for one in due}
        return due

    async def _evict(self, one: Relocation, leaver: Leaver) -> None:
        try:
            await self.cluster.evict(leaver.pod)
        except (NotFound, Conflict):
            # It is gone, or another by now; the watch will say so.
            return
        except Throttled as error:
            wait = max(EVICTION_RETRY_SECONDS, error.retry_after or 0.0)
            self._asked[leaver.pod.uid] = self.clock.monotonic() + wait
            self.observer.forbidden(one, leaver, str(error))
        except ClusterError as error:
            self._log.warning("not_evicted", pod=str(leaver.pod), why=str(error))
            self.observer.forbidden(one, leaver, str(error))
        else:
            self._log.info("evicted", pod=str(leaver.pod), gang=str(one.gang), why=one.why)
            self.observer.evicted(one, leaver)

    def _forget(self, view: ClusterView) -> None:
        known = {leaver.pod.uid for one in view.open for leaver in one.leavers}
        self._asked = {uid: at for uid, at in self._asked.items() if uid in known}
