"""Brings every commit to rest: forward, or back, and the records to what is true."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Protocol

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.ledger.binding import Binder, BindingResult, Bound
from fourleaf.k8s_bridge.ledger.claim_allocation import Stands
from fourleaf.k8s_bridge.ledger.compaction import is_settled, tidied
from fourleaf.k8s_bridge.ledger.epoch import Fenced, check_epoch
from fourleaf.k8s_bridge.ledger.formats.codec import differs
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.names import GANG, GANGS, PAGE, gang_lease_name, page_name
from fourleaf.k8s_bridge.ledger.next_action import Action, next_step
from fourleaf.k8s_bridge.ledger.page_layout import abandoned, missing, relaid
from fourleaf.k8s_bridge.ledger.pods import PodLister
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import GangLease, Member, Page, Phase
from fourleaf.k8s_bridge.ledger.reread import reread_lease, reread_page, stands
from fourleaf.k8s_bridge.ledger.rollback import EVICTION_RETRY_SECONDS, Rollback
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.k8s_bridge.ledger.takeover import find
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import first_answer, patiently, together
from fourleaf.k8s_bridge.runtime.record_retries import RecordRetries

CONVERT_BATCH_RECORDS = 50
"""Pages that are written in another format in one go: commits wait meanwhile."""

ROLLBACK_WAIT_LIMIT_SECONDS = 60.0
"""Seconds, at most, until a rollback is tried again where it was not written, or members stay."""

ROLLBACK_PATIENCE_SECONDS = 1.0
"""Seconds for which all else waits until members are let go; what takes longer goes on beside."""

RECORD_PATIENCE_SECONDS = 1.0
"""Seconds for which it waits for records that are tidied up, laid out or looked for; what takes
longer goes on beside."""


class CommitObserver(Protocol):
    """Observes what the reconciler learns, at once."""

    def took(self, body: Body) -> None:
        """A pod as a write of ours left it."""

    def took_claim(self, body: Body) -> None:
        """A ResourceClaim as a write of ours left it."""

    def bound(self, commit: Commit, member: Member) -> None:
        """The member stands on its node."""

    def all_bound(self, commit: Commit, members: tuple[Member, ...]) -> None:
        """All of these stand on their nodes, and with them the whole commit."""

    def rolled_back(self, commit: Commit, why: str) -> None:
        """The commit can go forward no more."""


@dataclass(slots=True, eq=False)
class Reconciler:
    """Works on every open commit. `start` runs a binding task beside the caller."""

    cluster: Cluster
    records: Records
    ledger: Ledger
    pods: PodLister
    binder: Binder
    clock: Clock
    epoch: int
    observer: CommitObserver
    start: Callable[..., asyncio.Task[None]]
    _binding: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _rollbacks: RecordRetries = field(init=False)
    """When one goes on that could not be written, or not let all members go, by its commit."""
    _returning: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _laying: dict[str, frozenset[str]] = field(default_factory=dict)
    """Pages that are being written by a layout, each with the nodes that it is to list."""
    _rereading: set[str] = field(default_factory=set)
    _retries: RecordRetries = field(init=False)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._retries = RecordRetries(self.clock)
        self._rollbacks = RecordRetries(self.clock, ROLLBACK_WAIT_LIMIT_SECONDS)

    def forward(self, name: str) -> None:
        """Start binding the members of this commit."""
        commit = self.ledger.commit(name)
        if commit is not None and name not in self._binding:
            step = next_step(commit, self.ledger, self.pods)
            if step.action is Action.FORWARD:
                self._start(commit, step.members)

    @property
    def busy(self) -> bool:
        """Whether members are being bound."""
        return bool(self._binding)

    async def run_once(self, tidy: bool = True) -> None:
        """Take every open commit one step further; with `tidy`, also write pages anew.

        Raises `Fenced` where another leader has taken over.
        """
        self.binder.unanswered.look(self.ledger, self.clock.monotonic())
        untidy: set[str] = set()
        over: list[str] = []
        returning: list[asyncio.Task[None]] = []
        for commit in self.ledger.open_commits():
            if commit.name in self._binding or commit.name in self.ledger.undecided:
                continue
            step = next_step(commit, self.ledger, self.pods)
            match step.action:
                case Action.REST:
                    self.ledger.rest(commit.name)
                case Action.FORWARD:
                    # One that cannot go forward, and whose record says so not yet, may wait.
                    if self._rollbacks.is_due(commit.name):
                        self._start(commit, step.members)
                case Action.BACK:
                    returning += self._started_back(commit, step.members)
                case Action.TIDY:
                    untidy.update(commit.pages)
                case Action.WITHDRAW | Action.DROP:
                    over.append(commit.name)
                case Action.WAIT:
                    pass
        if returning:
            await patiently(returning, self.clock.sleep(ROLLBACK_PATIENCE_SECONDS))
        await self._beside(self._delete(name) for name in over)
        if tidy:
            await self._beside(self._tidy(name) for name in sorted(untidy))

    async def _beside(self, writes: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Write, each by itself: one record that is long in writing holds up nothing else."""
        await self._wait_a_while([self.start(write) for write in writes])

    async def _done(self, steps: Iterable[Coroutine[Any, Any, bool]], patient: bool) -> bool:
        """Take all steps, each by itself; whether all have done what they were to do.

        Unless `patient`, one that is long in being answered goes on beside.
        """
        if patient:
            return all(await together(steps))
        done: list[bool] = []

        async def take(step: Coroutine[Any, Any, bool]) -> None:
            done.append(await step)

        tasks = [self.start(take(step)) for step in steps]
        await self._wait_a_while(tasks)
        return len(done) == len(tasks) and all(done)

    async def _wait_a_while(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        if tasks:
            await patiently(tasks, self.clock.sleep(RECORD_PATIENCE_SECONDS))
        for task in tasks:
            if task.done():
                # Raises what has ended it.
                await task

    async def sweep(self, patient: bool = True) -> None:
        """Take up gang leases that this ledger does not know, and look at sealed records again.

        A request to create one may be delivered again when it has long been deleted. Unless
        `patient`, records that the API is long in answering about are waited for no longer.
        """
        found = [body["metadata"]["name"] for body in await self.records.list(GANGS)]
        stray = [
            name
            for name in found
            if self.ledger.lease(name) is None and not self._is_being_decided(name)
        ]
        # No writer has the locks of these: what cannot be read is not written.
        sealed = {one.name: one.record for one in self.ledger.sealed}
        leases = [*stray, *(name for name, record in sealed.items() if record == GANG)]
        pages = [name for name, record in sealed.items() if record == PAGE]
        steps = [self._reread(reread_lease, name) for name in dict.fromkeys(leases)]
        await self._done([*steps, *(self._reread(reread_page, name) for name in pages)], patient)

    async def _reread(self, reread: Callable[..., Awaitable[object]], name: str) -> bool:
        """Read a record, unless that is under way; whether it was read."""
        if name in self._rereading:
            return False
        self._rereading.add(name)
        try:
            await reread(self.records, self.ledger, self.epoch, name)
        finally:
            self._rereading.discard(name)
        return True

    def _is_being_decided(self, lease: str) -> bool:
        """Whether a gang lease is one that the committer writes right now."""
        undecided = self.ledger.undecided.values()
        return any(gang_lease_name(one.gang.name, one.name) == lease for one in undecided)

    async def convert(self) -> None:
        """Write records anew that are not in the configured format, some at a time.

        A gang lease that is only prepared is about to be written anyway.
        """
        written = self.records.formats.written
        pages = (
            page_name(one.leaf, one.part)
            for one in self.ledger.pages
            if differs(one.format, written)
        )
        leases = [one.name for one in self.ledger.leases if differs(one.format, written)]
        # Those that cannot be written now leave room in the batch for the others.
        batch = list(islice(filter(self._is_free, pages), CONVERT_BATCH_RECORDS))
        await self._beside(self._convert_page(name) for name in batch)
        await self._beside(self._convert_lease(name) for name in filter(self._is_free, leases))

    def _is_free(self, record: str) -> bool:
        """Whether a record is not being written, and was not refused a moment ago."""
        return not self.ledger.writing.holds(record) and self._retries.is_due(record)

    async def _convert_page(self, name: str) -> None:
        async with self.ledger.writing.of([name]):
            page = self.ledger.page(name)
            if page is not None and differs(page.format, self.records.formats.written):
                await self._put(page)

    async def _convert_lease(self, name: str) -> None:
        async with self.ledger.writing.of([name]):
            lease = self.ledger.lease(name)
            if lease is None or lease.phase is Phase.PREPARED:
                return
            if differs(lease.format, self.records.formats.written):
                await self._put_lease(lease)

    async def lay_out(self, layout: Iterable[Page], patient: bool = True) -> bool:
        """Make the pages list the nodes of `layout`; take on pods that no entry holds.

        Pages of leaves that are gone are deleted once they hold nothing. False where a page is just
        being written, so that it has to be done once more; unless `patient`, one that the API is
        long in answering about counts as such, and the others go on.
        """
        pages = list(layout)
        done = [await self._found(missing(pages, self.ledger), patient)]
        for round_of_pages in relaid(pages, self.ledger, self.pods):
            # A page that is still being written lists what it did: its nodes go nowhere yet.
            steps = (self._if_free(self._put, page) for page in round_of_pages)
            done.append(await self._done(steps, patient))
        left = abandoned(pages, self.ledger)
        done.append(await self._done((self._if_free(self._discard, p) for p in left), patient))
        return all(done) and not self._laying

    async def _if_free(self, write: Callable[[Page], Awaitable[None]], page: Page) -> bool:
        """Write a page, unless it is being written or is another by now; whether it was."""
        name = page_name(page.leaf, page.part)
        is_busy = self.ledger.writing.holds(name) or name in self.ledger.founded
        if is_busy or not self._is_known(page):
            return False
        # A write of an earlier layout may still arrive, and no node may be on two pages then.
        if any(not nodes.isdisjoint(page.nodes) for nodes in self._laying.values()):
            return False
        self._laying[name] = frozenset(page.nodes)
        try:
            async with self.ledger.writing.of([name]):
                await write(page)
        finally:
            del self._laying[name]
        return True

    def _is_known(self, page: Page) -> bool:
        """Whether a page that is to be written was made of what the ledger knows now."""
        known = self.ledger.page(page_name(page.leaf, page.part))
        return known is not None and known.version == page.version

    async def _found(self, pages: Iterable[Page], patient: bool) -> bool:
        """Make pages, then make sure that no other leader had taken over before they were there.

        Until that is certain they take up no node. Whether all are there. Raises `Fenced` where
        one had. One that takes over later finds them, and writes them.
        """
        done = await self._done([self._make(page) for page in pages], patient)
        there = {name for name in self.ledger.founded if self.ledger.page(name) is not None}
        if there:
            found = await find(self.records)
            for page in found.pages:
                check_epoch(self.epoch, page.epoch, f"page {page_name(page.leaf, page.part)}")
            for one in found.sealed:
                check_epoch(self.epoch, one.epoch, f"lease {one.name}")
            self.ledger.founded -= there
        return done

    async def _make(self, page: Page) -> bool:
        """Make a page, unless that is under way; whether it has been tried."""
        name = page_name(page.leaf, page.part)
        if self.ledger.writing.holds(name):
            return False
        async with self.ledger.writing.of([name]):
            self.ledger.founded.add(name)
            await self._put(page)
        return True

    def _start(self, commit: Commit, members: tuple[Member, ...]) -> None:
        task = self.start(self._forward(commit, members))
        self._binding[commit.name] = task
        task.add_done_callback(lambda _: self._binding.pop(commit.name, None))

    async def _forward(self, commit: Commit, members: tuple[Member, ...]) -> None:
        waiting = [member for member in members if self.binder.uses_volumes(member)]
        nodes = self.binder.nodes_of_claims(commit.members) if waiting else {}
        name, standing = commit.name, self._standing(commit)
        # One volume that never comes is enough: the nodes would idle until others come or do not.
        early = await first_answer(
            self.binder.provision(name, member, standing, nodes) for member in waiting
        )
        answers = [] if early is None else [early]
        for some in () if answers else self.binder.unanswered.in_turn(members):
            answers += await together(self._bind(commit, member) for member in some)
            if any(answer.result is not Bound.BOUND for answer in answers):
                break
        if any(answer.result is Bound.FENCED for answer in answers):
            raise Fenced(next(a.why for a in answers if a.result is Bound.FENCED))
        for answer in answers:
            if answer.result is Bound.IMPOSSIBLE:
                await self._give_up(commit.name, answer.why)
                return
        # Of one that turned out to be bound, the others have yet to be.
        if early is None and all(answer.result is Bound.BOUND for answer in answers):
            self.observer.all_bound(commit, members)

    def _standing(self, commit: Commit) -> Stands:
        return partial(stands, self.records, self.ledger, self.epoch, commit.name)

    async def _bind(self, commit: Commit, member: Member) -> BindingResult:
        answer = await self.binder.bind(commit.name, member, self._standing(commit))
        if answer.result is Bound.BOUND:
            self.binder.unanswered.bound(member)
            self.observer.bound(commit, member)
        elif answer.result is Bound.IMPOSSIBLE:
            self.binder.unanswered.impossible(member)
        self.ledger.wake(member.pod.uid)
        return answer

    async def _give_up(self, name: str, why: str) -> None:
        """Mark the commit as rolling back, in the one record that decides it."""
        found = self.ledger.commit(name)
        if found is None:
            return
        async with self.ledger.writing.of(_deciding_records(found)):
            commit = self.ledger.commit(name)
            if commit is None or commit.phase is not Phase.COMMITTED:
                return
            if is_settled(commit, self.pods):
                # What could not be bound has gone meanwhile.
                return
            if commit.lease is not None:
                await self._put_lease(replace(commit.lease, phase=Phase.ROLLING_BACK))
            else:
                for one in commit.pages:
                    page = self.ledger.page(one)
                    if page is not None:
                        entries = tuple(
                            replace(e, phase=Phase.ROLLING_BACK) if e.commit == name else e
                            for e in page.entries
                        )
                        await self._put(page.with_entries(entries))
        now = self.ledger.commit(name)
        if now is not None and now.phase is Phase.COMMITTED:
            self._rollbacks.refused(name, EVICTION_RETRY_SECONDS)
            return
        self._log.warning("rolling_back", commit=name, gang=str(commit.gang), why=why)
        self.observer.rolled_back(commit, why)

    def _started_back(
        self, commit: Commit, members: tuple[Member, ...]
    ) -> Iterator[asyncio.Task[None]]:
        """Let members go, once they are due: a webhook may let that hang for one gang."""
        if commit.name in self._returning or not self._rollbacks.is_due(commit.name):
            return
        task = self.start(self._back(commit, members))
        self._returning[commit.name] = task
        task.add_done_callback(lambda _: self._returning.pop(commit.name, None))
        yield task

    async def _back(self, commit: Commit, members: tuple[Member, ...]) -> None:
        observer = self.observer
        going = Rollback(
            self.cluster,
            self.binder.allocator,
            self.binder.provisioner,
            self.pods,
            observer.took,
            observer.took_claim,
        )
        waits = await together(going.let_go(commit.name, member) for member in members)
        if any(waits):
            self._rollbacks.refused(commit.name, max(waits))

    async def _delete(self, name: str) -> None:
        """Delete the gang lease of a commit, if that is still what is to be done for it."""
        found = self.ledger.commit(name)
        if found is None or found.lease is None or not self._is_free(found.lease.name):
            return
        async with self.ledger.writing.of([found.lease.name]):
            commit = self.ledger.commit(name)
            lease = commit.lease if commit else None
            if commit is None or lease is None:
                return
            step = next_step(commit, self.ledger, self.pods)
            if step.action in (Action.WITHDRAW, Action.DROP):
                await self._delete_lease(lease)

    async def _delete_lease(self, lease: GangLease) -> None:
        try:
            await self.records.delete(lease.name, lease.version)
        except Conflict as error:
            now = await reread_lease(self.records, self.ledger, self.epoch, lease.name)
            # Admission may deny by any status: no other has written the lease then.
            if now is not None and now.version == lease.version:
                self._refused("lease_not_deleted", lease.name, error)
        except ClusterError as error:
            self._refused("lease_not_deleted", lease.name, error)
        else:
            self._retries.taken(lease.name)
            self.ledger.drop_lease(lease.name)

    async def _tidy(self, name: str) -> None:
        if not self._is_free(name):
            # It is tidied by who writes it, or once that is over.
            return
        async with self.ledger.writing.of([name]):
            page = self.ledger.page(name)
            if page is None:
                return
            clean = tidied(page, self.ledger, self.pods)
            if clean.entries != page.entries:
                await self._put(clean)

    async def _discard(self, page: Page) -> None:
        """Delete a page under its version: a write in the meantime keeps it."""
        name = page_name(page.leaf, page.part)
        try:
            await self.records.delete(name, page.version)
        except Conflict:
            await reread_page(self.records, self.ledger, self.epoch, name)
        except ClusterError as error:
            self._log.warning("page_not_deleted", page=name, why=str(error))
        else:
            self.ledger.drop_page(name)

    async def _put(self, page: Page) -> None:
        """Write `page` and take the answer into the ledger, whatever it is."""
        name = page_name(page.leaf, page.part)
        try:
            self.ledger.put_page(await self.records.write_page(replace(page, epoch=self.epoch)))
            self._retries.taken(name)
        except (Conflict, NotFound) as error:
            now = await reread_page(self.records, self.ledger, self.epoch, name)
            # Admission may deny by any status: no other has written the page then.
            if now is not None and now.version == page.version:
                self._refused("page_not_written", name, error)
        except (ClusterError, BadRecord) as error:
            self._refused("page_not_written", name, error)

    async def _put_lease(self, lease: GangLease) -> None:
        try:
            written = await self.records.write_lease(replace(lease, epoch=self.epoch))
            self.ledger.put_lease(written)
            self._retries.taken(lease.name)
        except (Conflict, NotFound) as error:
            now = await reread_lease(self.records, self.ledger, self.epoch, lease.name)
            if now is not None and now.version == lease.version:
                self._refused("lease_not_written", lease.name, error)
        except (ClusterError, BadRecord) as error:
            self._refused("lease_not_written", lease.name, error)

    def _refused(self, event: str, name: str, error: Exception) -> None:
        self._retries.refused(name)
        self._log.warning(event, lease=name, why=str(error))


def _deciding_records(commit: Commit) -> tuple[str, ...]:
    """The names of the records that say how far a commit is."""
    return commit.pages if commit.lease is None else (commit.lease.name,)
