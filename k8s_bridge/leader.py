"""The leader: what runs in one term, from taking over to the loss of the lead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.election.election import Election
from fourleaf.k8s_bridge.ledger.binding import Binder
from fourleaf.k8s_bridge.ledger.commit import Committer
from fourleaf.k8s_bridge.ledger.dry_run import DryRun
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.page_layout import laid_out
from fourleaf.k8s_bridge.ledger.reconciler import Reconciler
from fourleaf.k8s_bridge.ledger.record_store import Formats, Records
from fourleaf.k8s_bridge.ledger.records import Member, Page
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.ledger.takeover import Takeover, find
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.judge import Judgement
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE, NodeMonitor
from fourleaf.k8s_bridge.node_health.probe import Prober, TcpProber
from fourleaf.k8s_bridge.relocation.controller import RelocationController
from fourleaf.k8s_bridge.relocation.executor import RelocationObserver
from fourleaf.k8s_bridge.relocation.move_budget import MOVES_LEASE, MoveBudget
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.cycle import (
    Cycle,
    CycleObserver,
    CycleReport,
    Solve,
)
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.k8s_bridge.scheduling.holds.rollbacks import returning
from fourleaf.k8s_bridge.scheduling.holds.solver_time import SolveTime


@dataclass(frozen=True, slots=True)
class CyclePace:
    """Seconds. A cycle starts once nothing has changed for `settle`, after `longest` at most.

    Where the last cycle placed nothing, the next one waits for `idle`. Pages are tidied every
    `tidy` while nothing is bound, and at least every `untidy`; every `audit` they are compared
    with all that runs, and gang leases that are not in the ledger are looked for.
    """

    settle: float = 0.02
    longest: float = 0.2
    idle: float = 1.0
    tidy: float = 1.0
    untidy: float = 15.0
    audit: float = 30.0


class Observer(CycleObserver, RelocationObserver, Protocol):
    """Observes cycles and what happens to commits."""

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        ...

    def rolled_back(self, commit: Commit, why: str) -> None:
        """A commit goes back."""
        ...

    def judged(self, node: str, judgement: Judgement) -> None:
        """A node is dead, is heard again, or is well again."""
        ...


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What becomes of commits: for the cache, for the back-off, and for the observer."""

    cache: ClusterCache
    backoff: ApiBackoff
    observer: Observer
    took: Callable[[Body], None]
    took_claim: Callable[[Body], None]

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        self.cache.bound(member)
        self.observer.bound(commit, member)

    def rolled_back(self, commit: Commit, why: str) -> None:
        """A commit goes back; what made it impossible may do so again."""
        self.backoff.note(commit.gang, why)
        self.observer.rolled_back(commit, why)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that runs in a term, besides the election; the last two where gangs may move."""

    reconciler: Reconciler
    cycle: Cycle
    nodes: NodeMonitor | None = None
    relocation: RelocationController | None = None


@dataclass(slots=True, eq=False)
class Leader:
    """One term of one leader. `cluster` is gated."""

    cluster: Cluster
    namespace: str
    election: Election
    cache: ClusterCache
    solve: Solve
    observer: Observer
    clock: Clock
    dry_run: DryRun
    heartbeats: Heartbeats = field(default_factory=Heartbeats)
    planner: Planner | None = None
    prober: Prober = field(default_factory=TcpProber)
    asked_at: Callable[[], str] | None = None
    pace: CyclePace = field(default_factory=CyclePace)
    formats: Formats = field(default_factory=Formats)
    solver_time: SolveTime = field(default_factory=SolveTime)
    ledger: Ledger = field(default_factory=Ledger)
    parts: Parts | None = None
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    @property
    def busy(self) -> bool:
        """Whether gangs are being committed or bound."""
        parts = self.parts
        return self.ledger.writing.locked() or (parts is not None and parts.reconciler.busy)

    async def lead(self, epoch: int) -> None:
        """Take over, then run cycles until the lead is lost; raises what ended it."""
        identity = self.election.identity
        records = Records(self.cluster, self.namespace, identity, self.clock, self.formats)
        async with asyncio.TaskGroup() as tasks:
            # 1 Hold the Lease: taking over may last longer than it does.
            tasks.create_task(self.election.hold())
            # 2 Take over: fence the leader before, list its records, read all pods after that.
            epoch = await self._take_over(records, epoch)
            # 3 Make the parts, and let the pages list the nodes that there are now.
            self.parts = parts = self._parts(records, epoch, tasks)
            await parts.reconciler.lay_out(self._layout())
            self.cache.nodes_changed.clear()
            if parts.relocation is not None:
                await parts.relocation.store.take_over()
            self.cache.listen(self.ledger.wake)
            self._seal()
            try:
                # 4 Start what runs beside the cycles.
                if parts.nodes is not None and parts.relocation is not None:
                    tasks.create_task(parts.nodes.run())
                    tasks.create_task(parts.relocation.run())
                tasks.create_task(self._reconcile(parts))
                # 5 Run cycles; what waits may have waited since before this term.
                self.cache.changed.set()
                await self._cycles(parts.cycle)
            finally:
                self.cache.mute(self.ledger.wake)
                self.cache.seal(frozenset(), frozenset())
                parts.cycle.forget()

    def _parts(self, records: Records, epoch: int, tasks: asyncio.TaskGroup) -> Parts:
        """List every part that runs in a term, and how they are joined."""
        cluster, cache, ledger, clock = self.cluster, self.cache, self.ledger, self.clock
        backoff = ApiBackoff(clock)
        reconciler = Reconciler(
            cluster,
            records,
            ledger,
            cache,
            Binder(cluster, cache, clock, cache),
            clock,
            epoch,
            Outcomes(cache, backoff, self.observer, cache.took, cache.took_claim),
            tasks.create_task,
        )
        committer = Committer(records, ledger, cache, epoch, self.dry_run, reconciler.forward)
        nodes = relocation = None
        if self.planner is not None:
            nodes = NodeMonitor(
                cache,
                self.heartbeats,
                self.prober,
                StateLease(cluster, self.namespace, FAILURES_LEASE),
                clock,
                self.observer.judged,
            )
            relocation = RelocationController(
                cluster,
                cache,
                ledger,
                RelocationStore(records, ledger, epoch),
                nodes,
                self.planner,
                clock,
                self.observer,
                MoveBudget(StateLease(cluster, self.namespace, MOVES_LEASE)),
                self.asked_at,
            )
        cycle = Cycle(
            cache,
            ledger,
            committer,
            self.solve,
            self.observer,
            clock,
            backoff,
            relocation,
            self.solver_time,
        )
        return Parts(reconciler, cycle, nodes, relocation)

    def _seal(self) -> None:
        """Leave alone what sealed records are about."""
        self.cache.seal(self.ledger.sealed.nodes, self.ledger.sealed_gangs)

    def _layout(self) -> list[Page]:
        return laid_out(self.cache.reading().snapshot.fabric, self.ledger)

    async def _take_over(self, records: Records, epoch: int) -> int:
        """Fence the leader before; read all pods after that, so that none is missed."""
        found = await find(records)
        for trouble in found.unreadable:
            self._log.error("record_unreadable", why=trouble)
        for one in found.sealed:
            self._log.error("record_sealed", lease=one.name, why=one.why, format=one.format)
        if found.epoch >= epoch:
            epoch = found.epoch + 1
            await self.election.raise_epoch(epoch)
        await Takeover(records, self.ledger, epoch).fence(found)
        self.cache.take_all(PODS, await self.cluster.list(PODS))
        self._log.info(
            "took_over", epoch=epoch, pages=len(found.pages), gang_leases=len(found.leases)
        )
        return epoch

    async def _cycles(self, cycle: Cycle) -> None:
        again = Backoff(self.clock, first=self.pace.settle, most=self.pace.idle)
        while True:
            await self._something_to_do()
            self.cache.changed.clear()
            report = await cycle.run()
            if report.again:
                self.cache.changed.set()
                await again.wait()
                continue
            again.reset()
            if not report.outcome.committed:
                await self._idle(report)

    async def _something_to_do(self) -> None:
        """Wait for a change, then until the changes pause: the pods of a gang come one by one."""
        await self.cache.changed.wait()
        began = self.clock.monotonic()
        while (
            self.cache.quiet < self.pace.settle
            and self.clock.monotonic() - began < self.pace.longest
        ):
            await self.clock.sleep(self.pace.settle / 2)

    async def _idle(self, report: CycleReport) -> None:
        """Rest after a cycle without result, unless a gang comes that it did not know."""
        known = {gang.key for gang in report.reading.snapshot.gangs}
        until = self.clock.monotonic() + self.pace.idle
        while self.clock.monotonic() < until:
            await self.clock.sleep(self.pace.settle)
            if self.cache.changed.is_set():
                gangs = self.cache.reading().snapshot.gangs
                if any(gang.key not in known for gang in gangs):
                    return

    async def _reconcile(self, parts: Parts) -> None:
        reconciler, backoff = parts.reconciler, parts.cycle.api_backoff
        tidied = audited = self.clock.monotonic()
        back = returning(self.ledger)
        while True:
            now = self.clock.monotonic()
            audit = now - audited >= self.pace.audit
            if audit:
                audited = now
                await reconciler.sweep()
            if audit or self.cache.nodes_changed.is_set():
                self.cache.nodes_changed.clear()
                await reconciler.lay_out(self._layout())
            tidy = now - tidied >= (self.pace.untidy if self.busy else self.pace.tidy)
            await reconciler.run_once(tidy)
            await reconciler.convert()
            self._seal()
            tidied = now if tidy else tidied
            before, back = back, returning(self.ledger)
            if backoff.came_due() or before - back:
                self.cache.changed.set()
            await self.clock.sleep(self.pace.tidy / 5)
