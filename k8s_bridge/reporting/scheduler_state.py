"""Scheduler state: what reporting reads of the scheduler, so that it need not import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cache.config_watcher import ConfigWatcher
from fourleaf.k8s_bridge.election.election import Election
from fourleaf.k8s_bridge.election.gate import Gate, GatedCluster
from fourleaf.k8s_bridge.informers import Informers
from fourleaf.k8s_bridge.ledger.format_usage import LedgerUse
from fourleaf.k8s_bridge.node_health.judge import NodeVerdict
from fourleaf.k8s_bridge.runtime.clock import Clock


class Identified(Protocol):
    """The options that name this process and where its objects are."""

    @property
    def identity(self) -> str:
        """This process, as Events and Leases name it."""

    @property
    def namespace(self) -> str:
        """Where its Leases are."""

    @property
    def config_namespace(self) -> str:
        """Where its ConfigMap is."""


class SchedulerState(Protocol):
    """One scheduler at work."""

    clock: Clock
    gate: Gate
    gated: GatedCluster
    cache: ClusterCache
    election: Election
    informers: Informers
    config: ConfigWatcher
    leading: bool

    @property
    def options(self) -> Identified:
        """How it was started."""

    @property
    def epoch(self) -> int:
        """The epoch in which it leads, or last led."""

    @property
    def binding(self) -> bool:
        """Whether gangs are being committed or bound."""

    @property
    def verdicts(self) -> Mapping[NodeVerdict, int]:
        """How many nodes are taken for what."""

    @property
    def unrepaired(self) -> int:
        """How many gangs lack members and have no repair."""

    @property
    def ledger(self) -> LedgerUse:
        """The formats of the records."""

    @property
    def unsynced(self) -> tuple[str, ...]:
        """Kinds whose copy is not complete, or older than it may be."""
