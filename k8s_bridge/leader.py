"""What the leader does, from taking over to the loss of the lead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.election.election import Election
from fourleaf.k8s_bridge.ledger.binding import Binder, DryRun
from fourleaf.k8s_bridge.ledger.commit import Committer
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.page_layout import laid_out
from fourleaf.k8s_bridge.ledger.reconciler import Reconciler
from fourleaf.k8s_bridge.ledger.record_store import Formats, Records
from fourleaf.k8s_bridge.ledger.records import Member, Page
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.ledger.takeover import Takeover, find
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.judge import Judgement
from fourleaf.k8s_bridge.node_health.monitor import KEPT, NodeMonitor
from fourleaf.k8s_bridge.node_health.probe import Prober, TcpProber
from fourleaf.k8s_bridge.relocation.controller import RelocationController
from fourleaf.k8s_bridge.relocation.executor import RelocationObserver
from fourleaf.k8s_bridge.relocation.move_budget import MOVES, MoveBudget
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.cycle import (
    Cycle,
    CycleObserver,
    CycleReport,
    NoReservations,
    Reservations,
    Solve,
)
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import ApiBackoff
from fourleaf.k8s_bridge.scheduling.holds.rollbacks import returning


@dataclass(frozen=True, slots=True)
class CyclePace:
    """Seconds. A cycle starts once nothing has changed for `settle`, after `longest` at most.

    Where the last cycle placed nothing, the next one waits for `idle`. Pages are tidied every
    `tidy` while nothing is bound, and at least every `untidy`; every `audit` they are compared
    with all that runs, and gang leases that nobody knows of are looked for.
    """

    settle: float = 0.02
    longest: float = 0.2
    idle: float = 1.0
    tidy: float = 1.0
    untidy: float = 15.0
    audit: float = 30.0


class Observer(CycleObserver, RelocationObserver, Protocol):
    """Hears of cycles and of what happens to commits."""

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        ...

    def rolled_back(self, commit: Commit, why: str) -> None:
        """A commit goes back."""
        ...

    def judged(self, node: str, judgement: Judgement) -> None:
        """A node is dead, is heard again, or is well again."""
        ...


@dataclass(slots=True, eq=False)
class Leader:
    """One term of one leader. `cluster` is gated."""

    cluster: Cluster
    namespace: str
    election: Election
    observed: ClusterCache
    solve: Solve
    witness: Observer
    clock: Clock
    dry_run: DryRun
    beats: Heartbeats = field(default_factory=Heartbeats)
    planner: Planner | None = None
    prober: Prober = field(default_factory=TcpProber)
    asked: Callable[[], str] = str
    pace: CyclePace = field(default_factory=CyclePace)
    book: Ledger = field(default_factory=Ledger)
    nodes: NodeMonitor | None = None
    formats: Formats = field(default_factory=Formats)
    shelf: RelocationStore | None = None
    refusals: ApiBackoff = field(init=False)
    _keeping: Reconciler | None = None
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self.refusals = ApiBackoff(self.clock)

    @property
    def busy(self) -> bool:
        """Whether gangs are being committed or bound."""
        return self.book.writing.locked() or (self._keeping is not None and self._keeping.busy)

    async def lead(self, epoch: int) -> None:
        """Take over, then run cycles until the lead is lost; raises what ended it."""
        identity = self.election.identity
        records = Records(self.cluster, self.namespace, identity, self.clock, self.formats)
        async with asyncio.TaskGroup() as tasks:
            # Taking over may last longer than the lease holds.
            tasks.create_task(self.election.hold())
            epoch = await self._take_over(records, epoch)
            self._keeping = keeping = self._housekeeping(records, epoch, tasks)
            await keeping.lay_out(self._layout())
            self.observed.nodes_changed.clear()
            committer = Committer(
                records, self.book, self.observed, epoch, self.dry_run, keeping.forward
            )
            cycle = Cycle(
                self.observed,
                self.book,
                committer,
                self.solve,
                self.witness,
                self.clock,
                self.refusals,
                await self._keeper(records, epoch, tasks),
            )
            self.observed.listen(self.book.wake)
            self._seal()
            try:
                tasks.create_task(self._keep(keeping))
                # What waits may have waited since before this term.
                self.observed.changed.set()
                await self._cycles(cycle)
            finally:
                self.observed.mute(self.book.wake)
                self.observed.seal(frozenset(), frozenset())
                cycle.forget()

    async def _keeper(self, records: Records, epoch: int, tasks: asyncio.TaskGroup) -> Reservations:
        """Look after nodes and gangs that stand, where somebody can plan for them."""
        if self.planner is None:
            return NoReservations()
        nodes = NodeMonitor(
            self.observed,
            self.beats,
            self.prober,
            StateLease(self.cluster, self.namespace, KEPT),
            self.clock,
            self.witness.judged,
        )
        self.nodes = nodes
        self.shelf = shelf = RelocationStore(records, self.book, epoch)
        await shelf.take_over()
        relocating = RelocationController(
            self.cluster,
            self.observed,
            self.book,
            shelf,
            nodes,
            self.planner,
            self.clock,
            self.witness,
            MoveBudget(StateLease(self.cluster, self.namespace, MOVES)),
            self.asked,
        )
        tasks.create_task(nodes.run())
        tasks.create_task(relocating.run())
        return relocating

    def _seal(self) -> None:
        """Leave alone what sealed records are about."""
        self.observed.seal(self.book.sealed.nodes, self.book.sealed_gangs)

    def _layout(self) -> list[Page]:
        return laid_out(self.observed.reading().snapshot.fabric, self.book)

    async def _take_over(self, records: Records, epoch: int) -> int:
        """Fence whoever led before; read all pods after that, so that none is missed."""
        found = await find(records)
        for trouble in found.unreadable:
            self._log.error("record_unreadable", why=trouble)
        for one in found.sealed:
            self._log.error("record_sealed", lease=one.name, why=one.why, format=one.format)
        if found.epoch >= epoch:
            epoch = found.epoch + 1
            await self.election.raise_epoch(epoch)
        await Takeover(records, self.book, epoch).fence(found)
        self.observed.take_all(PODS, await self.cluster.list(PODS))
        self._log.info(
            "took_over", epoch=epoch, pages=len(found.pages), gang_leases=len(found.leases)
        )
        return epoch

    def _housekeeping(self, records: Records, epoch: int, tasks: asyncio.TaskGroup) -> Reconciler:
        def start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
            return tasks.create_task(work)

        binder = Binder(self.cluster, self.observed, self.clock, self.observed)
        return Reconciler(
            self.cluster,
            records,
            self.book,
            self.observed,
            binder,
            self.clock,
            epoch,
            self,
            start,
        )

    async def _cycles(self, cycle: Cycle) -> None:
        again = Backoff(self.clock, first=self.pace.settle, most=self.pace.idle)
        while True:
            await self._something_to_do()
            self.observed.changed.clear()
            report = await cycle.run()
            if report.again:
                self.observed.changed.set()
                await again.wait()
                continue
            again.reset()
            if not report.outcome.committed:
                await self._idle(report)

    async def _something_to_do(self) -> None:
        """Wait for a change, then until the changes pause: the pods of a gang come one by one."""
        await self.observed.changed.wait()
        began = self.clock.monotonic()
        while (
            self.observed.quiet < self.pace.settle
            and self.clock.monotonic() - began < self.pace.longest
        ):
            await self.clock.sleep(self.pace.settle / 2)

    async def _idle(self, report: CycleReport) -> None:
        """Rest after a cycle without result, unless a gang comes that it did not know."""
        known = {gang.key for gang in report.reading.snapshot.gangs}
        until = self.clock.monotonic() + self.pace.idle
        while self.clock.monotonic() < until:
            await self.clock.sleep(self.pace.settle)
            if self.observed.changed.is_set():
                gangs = self.observed.reading().snapshot.gangs
                if any(gang.key not in known for gang in gangs):
                    return

    async def _keep(self, keeping: Reconciler) -> None:
        tidied = audited = self.clock.monotonic()
        back = returning(self.book)
        while True:
            now = self.clock.monotonic()
            audit = now - audited >= self.pace.audit
            if audit:
                audited = now
                await keeping.sweep()
            if audit or self.observed.nodes_changed.is_set():
                self.observed.nodes_changed.clear()
                await keeping.lay_out(self._layout())
            tidy = now - tidied >= (self.pace.untidy if self.busy else self.pace.tidy)
            await keeping.run_once(tidy)
            await keeping.convert()
            self._seal()
            tidied = now if tidy else tidied
            before, back = back, returning(self.book)
            if self.refusals.came_due() or before - back:
                self.observed.changed.set()
            await self.clock.sleep(self.pace.tidy / 5)

    def took(self, body: Body) -> None:
        """A pod as a write of ours left it."""
        self.observed.took(body)

    def took_claim(self, body: Body) -> None:
        """A ResourceClaim as a write of ours left it."""
        self.observed.took_claim(body)

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        self.observed.bound(member)
        self.witness.bound(commit, member)

    def rolled_back(self, commit: Commit, why: str) -> None:
        """A commit goes back; what made it impossible may do so again."""
        self.refusals.note(commit.gang, why)
        self.witness.rolled_back(commit, why)
