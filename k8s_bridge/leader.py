"""The leader: what runs in one term, from taking over to the loss of the lead."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial

import structlog

from fourleaf.k8s_bridge.cache.catch_up import catch_up
from fourleaf.k8s_bridge.cache.last_good_config import LastGoodConfig
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.election.election import Election
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.page_layout import laid_out
from fourleaf.k8s_bridge.ledger.reconciler import Reconciler
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import Page
from fourleaf.k8s_bridge.ledger.takeover import Takeover, find
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.scheduling.cycle import Cycle, CycleReport
from fourleaf.k8s_bridge.scheduling.holds.claims_on_their_way import on_their_way
from fourleaf.k8s_bridge.scheduling.holds.hung_pages import HungPages
from fourleaf.k8s_bridge.scheduling.holds.unlisted_nodes import UnlistedNodes
from fourleaf.k8s_bridge.wiring import Parts, Wiring

LOOKING_SHARE = 0.1
"""The share of its idle time for which a leader reads what has changed."""


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


@dataclass(slots=True, eq=False)
class Leader:
    """One term of one leader."""

    wiring: Wiring
    election: Election
    last_good: LastGoodConfig
    pace: CyclePace = field(default_factory=CyclePace)
    ledger: Ledger = field(default_factory=Ledger)
    parts: Parts | None = None
    _hung: HungPages = field(init=False)
    _unlisted: UnlistedNodes = field(init=False)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._hung = HungPages(self.ledger, self.wiring.clock)
        self._unlisted = UnlistedNodes(self.ledger, self.wiring.clock)

    @property
    def busy(self) -> bool:
        """Whether gangs are being committed or bound."""
        parts = self.parts
        return self.ledger.writing.held or (parts is not None and parts.reconciler.busy)

    async def lead(self, epoch: int) -> None:
        """Take over, then run cycles until the lead is lost; raises what ended it."""
        cache, records = self.wiring.cache, self.wiring.records(self.election.identity)
        async with asyncio.TaskGroup() as tasks:
            # 1 Hold the Lease: taking over may last longer than it does.
            tasks.create_task(self.election.hold())
            # 2 Take the config of the leader before, where the one that there is makes no sense.
            await self.last_good.restore()
            # 3 Take over: fence the leader before, then read all pods and nodes.
            epoch = await self._take_over(records, epoch)
            # 4 Make the parts, and let the pages list the nodes that there are now.
            self.parts = parts = self.wiring.parts(records, self.ledger, epoch, tasks)
            await catch_up(cache, self.wiring.clock)
            cache.nodes_changed.clear()
            if not await parts.reconciler.lay_out(self._layout(), patient=False):
                cache.nodes_changed.set()
            if parts.relocation is not None:
                await parts.relocation.store.take_over()
            cache.listen(self.ledger.wake)
            self._seal()
            try:
                # 5 Start what runs beside the cycles.
                tasks.create_task(self.last_good.follow())
                if parts.nodes is not None and parts.relocation is not None:
                    tasks.create_task(parts.nodes.run())
                    tasks.create_task(parts.nodes.keep())
                    tasks.create_task(parts.relocation.run())
                    tasks.create_task(parts.relocation.keep())
                tasks.create_task(self._reconcile(parts))
                tasks.create_task(self._lay_out(parts.reconciler))
                tasks.create_task(self._audit(parts.reconciler))
                # 6 Run cycles; what waits may have waited since before this term.
                cache.changed.set()
                await self._cycles(parts.cycle)
            finally:
                cache.mute(self.ledger.wake)
                cache.seal(frozenset(), frozenset())
                # What is known of nodes is old where this replica leads again.
                cache.judge(frozenset(), {})
                cache.kept_places = dict
                parts.cycle.forget()

    def _seal(self) -> None:
        """Leave alone what sealed records are about; plan nothing where no page can be written."""
        sealed = self.ledger.sealed.nodes | self._unlisted.nodes()
        hung = self._hung.nodes()
        self.wiring.cache.seal(sealed | hung.every, self.ledger.sealed_gangs, hung.for_now - sealed)

    def _layout(self) -> list[Page]:
        fabric = self.wiring.cache.reading().snapshot.fabric
        self._unlisted.look(fabric.nodes)
        return laid_out(fabric, self.ledger)

    async def _take_over(self, records: Records, epoch: int) -> int:
        """Fence the leader before; read all pods after that, so that none is missed.

        And all nodes: what a watch that hangs has not told of them would have pods evicted.
        """
        found = await find(records)
        for trouble in found.unreadable:
            self._log.error("record_unreadable", why=trouble)
        for one in found.sealed:
            self._log.error("record_sealed", lease=one.name, why=one.why, format=one.format)
        if found.epoch >= epoch:
            epoch = found.epoch + 1
            await self.election.raise_epoch(epoch)
        await Takeover(records, self.ledger, epoch).fence(found)
        for kind in (PODS, NODES):
            listing = await records.answer(partial(self.wiring.cluster.list, kind))
            self.wiring.cache.take_all(kind, listing)
        self._log.info(
            "took_over", epoch=epoch, pages=len(found.pages), gang_leases=len(found.leases)
        )
        return epoch

    async def _cycles(self, cycle: Cycle) -> None:
        cache, clock = self.wiring.cache, self.wiring.clock
        again = Backoff(clock, first=self.pace.settle, most=self.pace.idle)
        while True:
            await self._something_to_do()
            # A page may have been answered about just now.
            self._seal()
            cache.changed.clear()
            report = await cycle.run()
            if report.again:
                cache.changed.set()
                await self._rest(report, again.next())
                continue
            again.reset()
            if report.outcome.unfinished:
                # What the batch had no room for is planned while its records are being written.
                cache.changed.set()
            elif not report.outcome.committed:
                await self._rest(report, self.pace.idle)

    async def _something_to_do(self) -> None:
        """Wait for a change, then until the changes pause: the pods of a gang come one by one."""
        cache, clock = self.wiring.cache, self.wiring.clock
        await cache.changed.wait()
        began = clock.monotonic()
        while cache.quiet < self.pace.settle and clock.monotonic() - began < self.pace.longest:
            await clock.sleep(self.pace.settle / 2)

    async def _rest(self, report: CycleReport, seconds: float) -> None:
        """Rest after a cycle that came to nothing, unless a gang becomes fit to be planned."""
        cache, clock = self.wiring.cache, self.wiring.clock
        until, rest = clock.monotonic() + seconds, self.pace.settle
        while clock.monotonic() < until:
            await clock.sleep(min(rest, until - clock.monotonic()))
            if not cache.changed.is_set():
                continue
            looked = clock.monotonic()
            if cache.arrivals() != report.reading.arrivals:
                return
            # Each binding has its gang read again; to look after every few is work for nothing.
            rest = max(self.pace.settle, (clock.monotonic() - looked) / LOOKING_SHARE)

    async def _lay_out(self, reconciler: Reconciler) -> None:
        """Let the pages list the nodes that there are, as they change and now and then.

        Beside all else: a page that takes long to write is no reason to leave a gang half bound.
        """
        cache, clock = self.wiring.cache, self.wiring.clock
        laid = clock.monotonic()
        while True:
            now = clock.monotonic()
            if cache.nodes_changed.is_set() or now - laid >= self.pace.audit:
                cache.nodes_changed.clear()
                laid = now
                if not await reconciler.lay_out(self._layout(), patient=False):
                    cache.nodes_changed.set()
            await clock.sleep(self.pace.tidy / 5)

    async def _audit(self, reconciler: Reconciler) -> None:
        """Look for gang leases that are not in the ledger, now and then.

        Beside all else: the API may be long in answering about one record.
        """
        while True:
            await self.wiring.clock.sleep(self.pace.audit)
            await reconciler.sweep(patient=False)

    async def _reconcile(self, parts: Parts) -> None:
        cache, clock = self.wiring.cache, self.wiring.clock
        reconciler, backoff = parts.reconciler, parts.cycle.api_backoff
        tidied = clock.monotonic()
        back, taken = parts.cycle.returning(), on_their_way(self.ledger)
        while True:
            now = clock.monotonic()
            # A write that takes long is no reason to leave all else untidy.
            busy = reconciler.busy or parts.cycle.is_committing
            tidy = now - tidied >= (self.pace.untidy if busy else self.pace.tidy)
            await reconciler.run_once(tidy)
            await reconciler.convert()
            self._seal()
            tidied = now if tidy else tidied
            returned = back - (back := parts.cycle.returning())
            freed = taken - (taken := on_their_way(self.ledger))
            due = [backoff.came_due(), parts.cycle.solver_time.came_due(clock.monotonic())]
            if any(due) or returned or freed or parts.cycle.has_come_back:
                cache.changed.set()
            await clock.sleep(self.pace.tidy / 5)
