"""The scheduler: one process that observes, and that plans and binds while it leads."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cache.config_watcher import ConfigWatcher
from fourleaf.k8s_bridge.cache.last_good_config import CONFIG_LEASE, LastGoodConfig
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Cluster
from fourleaf.k8s_bridge.election.election import Election, Timing
from fourleaf.k8s_bridge.election.gate import Gate, GatedCluster, NotLeader
from fourleaf.k8s_bridge.informers import (
    Change,
    Informers,
    ReflectorState,
    Selection,
    config_selection,
)
from fourleaf.k8s_bridge.informers.owner_kinds import OwnerInformers
from fourleaf.k8s_bridge.informers.watched_kinds import WATCHED_KINDS
from fourleaf.k8s_bridge.leader import CyclePace, Leader
from fourleaf.k8s_bridge.ledger.dry_run import DryRun
from fourleaf.k8s_bridge.ledger.epoch import Fenced
from fourleaf.k8s_bridge.ledger.format_usage import LedgerUse, ledger_use
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from fourleaf.k8s_bridge.ledger.names import LEADER
from fourleaf.k8s_bridge.ledger.plugins.binding_plugins import BindingPlugins
from fourleaf.k8s_bridge.ledger.record_store import Formats
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.node_health.heartbeats import HeartbeatInformer
from fourleaf.k8s_bridge.node_health.judge import NodeVerdict
from fourleaf.k8s_bridge.node_health.probe import Prober, TcpProber
from fourleaf.k8s_bridge.reporting.reporter import Reporter
from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.cycle import Solve
from fourleaf.k8s_bridge.scheduling.holds.solver_time import SolveTime
from fourleaf.k8s_bridge.wiring import Wiring
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.extensions import BindingPlugin

DryRunMode = Literal["always", "never", "auto"]
"""When gangs are tried out; `auto`: where an admission webhook covers bindings."""


def new_identity() -> str:
    """A name for this process alone: the host, its process number, and chance."""
    return f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """How a scheduler runs.

    `namespace` holds its Leases, `config_namespace` its ConfigMap. `scheduler_names` are those
    it answers to, instead of the config's. `formats` are those of its records that it reads and
    writes: all that there are, but where an older version is to be stood in for.
    """

    namespace: str = "kube-system"
    config_namespace: str = "kube-system"
    scheduler_names: tuple[str, ...] = ()
    dry_run: DryRunMode = "auto"
    identity: str = field(default_factory=new_identity)
    timing: Timing = field(default_factory=Timing)
    pace: CyclePace = field(default_factory=CyclePace)
    formats: tuple[int, ...] = KNOWN


class Scheduler:
    """Runs until cancelled. `solve` plans; `reporter` makes the observer of all that happens.

    `planner` plans for gangs that stand; without one, they are left to themselves. `plugins` take
    their steps before and after bindings.
    """

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        solve: Solve,
        options: SchedulerOptions,
        reporter: Callable[[SchedulerState], Reporter],
        planner: Planner | None = None,
        prober: Prober | None = None,
        plugins: Sequence[BindingPlugin] = (),
    ) -> None:
        self.options = options
        self.clock = clock
        self.cluster = cluster
        self.gate = Gate(clock)
        self.gated = GatedCluster(cluster, self.gate)
        self.cache = ClusterCache(clock)
        self.election = Election(
            cluster, options.namespace, LEADER, options.identity, clock, self.gate, options.timing
        )
        self.informers = Informers(cluster, clock, self._selections(), self._on_change)
        self.heartbeats = HeartbeatInformer(cluster, clock)
        self._planner = planner
        self._plugins = plugins
        self._prober = prober or TcpProber()
        self.leading = False
        self._term: Leader | None = None
        self._solve = solve
        self._solve_time = SolveTime()
        self._log = structlog.get_logger(__name__)
        self.reporter = reporter(self)
        self._owner_informers = OwnerInformers(self.informers)
        self.config = ConfigWatcher(
            options.scheduler_names, self._configure, self.reporter.config_read
        )

    async def run(self) -> None:
        """Observe, campaign, lead; again and again. Gives the lead back when cancelled."""
        async with asyncio.TaskGroup() as tasks, self.informers:
            # 1 Observe, report and follow heartbeats, leader or not.
            tasks.create_task(self.informers.broken())
            tasks.create_task(self.reporter.run())
            if self._planner is not None:
                tasks.create_task(self.heartbeats.run())
            try:
                # 2 Wait until the cache holds every kind.
                await self.informers.synced()
                self._log.info("synced", identity=self.options.identity, not_served=self._absent())
                # 3 Campaign and lead, term after term.
                await self._terms()
            finally:
                # 4 Give the lead back, so that another replica need not wait for it.
                await self.election.release()

    @property
    def epoch(self) -> int:
        """The epoch in which this process leads, or last led; 0 where it never did."""
        return self.election.epoch

    @property
    def binding(self) -> bool:
        """Whether gangs are being committed or bound."""
        return self._term is not None and self._term.busy

    @property
    def verdicts(self) -> Mapping[NodeVerdict, int]:
        """How many nodes are taken for what; none by who does not lead."""
        parts = self._term.parts if self._term is not None else None
        return {} if parts is None or parts.nodes is None else parts.nodes.verdicts

    @property
    def unrepaired(self) -> int:
        """How many gangs lack members and have no repair; none by who does not lead."""
        parts = self._term.parts if self._term is not None else None
        relocation = parts.relocation if parts is not None else None
        return 0 if relocation is None else relocation.repair.unrepaired

    @property
    def ledger(self) -> LedgerUse:
        """The formats of the records, as the leader knows them; none by who does not lead."""
        term = self._term
        if term is None:
            return LedgerUse()
        relocation = term.parts.relocation if term.parts is not None else None
        open_ = tuple(relocation.store) if relocation is not None else ()
        return ledger_use(term.ledger, open_, term.wiring.formats.written)

    @property
    def unsynced(self) -> tuple[str, ...]:
        """Kinds whose copy is not complete, or older than it may be."""
        return self.informers.out_of_date()

    def _absent(self) -> list[str]:
        """The kinds that the API server does not serve, which may be meant so."""
        health = self.informers.health()
        return [k.plural for k, one in health.items() if one.state is ReflectorState.ABSENT]

    async def _terms(self) -> None:
        backoff = Backoff(self.clock, first=0.1)
        while True:
            epoch = await self.election.campaign()
            began = self.clock.monotonic()
            try:
                await self._lead(epoch)
            except* (NotLeader, Fenced) as group:
                self._log.warning("lead_lost", why=_first_error(group))
            except* Exception as group:  # noqa: BLE001 - whatever it is, the next term may do better
                self._log.error("term_failed", why=_first_error(group), exc_info=group)
                self.reporter.term_failed()
            finally:
                self.leading, self._term = False, None
                self.reporter.lead_lost()
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                # Before Python 3.13, a TaskGroup of which a task fails meanwhile forgets it.
                raise asyncio.CancelledError
            await self.election.release()
            if self.clock.monotonic() - began > self.options.timing.hold:
                backoff.reset()
            await backoff.wait()

    async def _lead(self, epoch: int) -> None:
        wiring = Wiring(
            cluster=self.gated,
            namespace=self.options.namespace,
            cache=self.cache,
            solve=self._solve,
            observer=self.reporter,
            clock=self.clock,
            dry_run=self._dry_run(),
            heartbeats=self.heartbeats.heartbeats,
            prober=self._prober,
            formats=Formats(self.options.formats, lambda: self.cache.config.spec.ledger.format),
            plugins=self._binding_plugins,
            planner=self._planner,
            asked_at=lambda: self.config.state.asked,
            solver_time=self._solve_time,
        )
        kept = StateLease(self.gated, self.options.namespace, CONFIG_LEASE, self.clock)
        last_good = LastGoodConfig(kept, self.config, self.clock)
        leader = Leader(wiring, self.election, last_good, self.options.pace)
        self.leading, self._term = True, leader
        await leader.lead(epoch)

    def _binding_plugins(self, epoch: int) -> BindingPlugins:
        return BindingPlugins(self._plugins, self.clock, epoch, self.gate.check)

    def _dry_run(self) -> DryRun:
        mode = self.options.dry_run
        return DryRun(self.gated, self.clock, needed=mode == "always", auto=mode == "auto")

    def _selections(self) -> list[Kind | Selection]:
        return [*WATCHED_KINDS, config_selection(self.options.config_namespace)]

    def _configure(self, config: SchedulerConfig) -> None:
        self.cache.configure(config)
        self._owner_informers.configure(config)

    def _on_change(self, kind: Kind, change: Change) -> None:
        began = self.clock.monotonic()
        if kind is CONFIG_MAPS:
            self.config.on_change(change)
        else:
            self.cache.on_change(kind, change)
        self.reporter.learnt(self.clock.monotonic() - began)


def _first_error(group: BaseExceptionGroup[BaseException]) -> str:
    """What the first error within says."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
