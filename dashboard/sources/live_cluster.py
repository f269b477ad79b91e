"""A live cluster, followed by the reflectors that the scheduler has too."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

from fourleaf.dashboard.sources.gang_events import GangEvents
from fourleaf.dashboard.sources.history import HistoryView
from fourleaf.dashboard.sources.lease_records import records_of
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cache.config_watcher import ConfigWatcher
from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, JOBS, LEASES, PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import PagedCluster
from fourleaf.k8s_bridge.informers import Change, Informers, config_selection
from fourleaf.k8s_bridge.informers.owner_kinds import OwnerInformers
from fourleaf.k8s_bridge.informers.watched_kinds import WATCHED_KINDS
from fourleaf.k8s_bridge.ledger.names import GANGS, PAGES
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.gang import GangKey
from fourleaf.model.readers import Source
from fourleaf.model.readers.overlay import read_beside, without_idle_owners
from fourleaf.model.snapshot import Snapshot


class LiveSource:
    """What `cluster` holds, kept up with while the context is open.

    `namespace` holds the scheduler's Leases, `config_namespace` its ConfigMap.
    """

    live = True

    def __init__(
        self,
        name: str,
        cluster: PagedCluster,
        clock: Clock,
        namespace: str = "kube-system",
        config_namespace: str = "kube-system",
    ) -> None:
        self.name = name
        self._cluster = cluster
        self._clock = clock
        self._events = GangEvents(cluster)
        self._namespace = namespace
        self._cache = ClusterCache(clock)
        selections = [*WATCHED_KINDS, config_selection(config_namespace)]
        self._reflectors = Informers(cluster, clock, selections, self._on_change)
        self._owners = OwnerInformers(self._reflectors)
        self._config = ConfigWatcher((), self._configure, lambda *_: None)
        self._changed = asyncio.Event()
        self._version = 0

    async def __aenter__(self) -> Self:
        self._reflectors.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._reflectors.close()

    async def synced(self) -> None:
        """Wait until everything is known once."""
        await self._reflectors.synced()

    async def broken(self) -> None:
        """Wait until a reflection breaks, and raise what broke it."""
        await self._reflectors.broken()

    @property
    def unsynced(self) -> tuple[str, ...]:
        """Kinds that are not completely known, or of which nothing was heard for too long."""
        return self._reflectors.out_of_date()

    def moment(self) -> ClusterMoment:
        """The cluster as it is known now."""
        reading = self._cache.reading()
        return ClusterMoment(
            self._version,
            reading.snapshot,
            reading.problems,
            dict(self._cache.objects.get(PODS, {})),
            self._cache.standing,
            self._cache.eviction_limits,
            self.unsynced,
            dict(self._cache.objects.get(JOBS, {})),
            self._namespace,
        )

    def _configure(self, config: SchedulerConfig) -> None:
        self._cache.configure(config)
        self._owners.configure(config)

    async def changed(self) -> None:
        """Wait until something has changed since the last call."""
        await self._changed.wait()
        self._changed.clear()

    def beside(self, given: Sequence[Source]) -> Snapshot:
        """What there would be to plan with `given` on top. Raises `BadInput`."""
        objects = [
            {**body, "apiVersion": kind.api_version, "kind": kind.name}
            for kind, bodies in list(self._cache.objects.items())
            for body in list(bodies.values())
        ]
        standing = without_idle_owners(self.name, objects, self._cache.config)
        now, usual = self._clock.wall(), self._cache.config
        return read_beside(self.name, standing, given, now, usual=usual, whole=True).snapshot

    async def history(self, gang: GangKey, pods: Sequence[str]) -> HistoryView:
        """What Leases and events of the cluster say of a gang."""
        unknown: list[str] = []

        async def listed(kind: Kind, what: str, labels: str) -> list[dict[str, Any]]:
            try:
                found = await self._cluster.list(kind, self._namespace, labels, cached=True)
                return found.items
            except NotFound:
                return []
            except ClusterError as error:
                unknown.append(f"{what}: {error}")
                return []

        pages, leases, happenings = await asyncio.gather(
            listed(LEASES, "pages", PAGES),
            listed(LEASES, "gang leases", GANGS),
            self._events.of(gang, pods, unknown.append),
        )
        return HistoryView(
            records=records_of(gang, [*pages, *leases]),
            happenings=happenings,
            unknown=tuple(unknown),
        )

    def _on_change(self, kind: Kind, change: Change) -> None:
        if kind is CONFIG_MAPS:
            self._config.on_change(change)
        else:
            self._cache.on_change(kind, change)
        self._version += 1
        self._changed.set()
