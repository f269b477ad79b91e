"""A plan as a transaction: dry run, gang leases, pages, decision. Binding comes after.

For a gang on one page, the write of that page is the commit. A wider gang commits with one
write to its gang lease, once all its pages have taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.compaction import tidied
from fourleaf.k8s_bridge.ledger.formats.codec import entry_size, room_on
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.names import gang_lease_name
from fourleaf.k8s_bridge.ledger.pods import PodLister
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.k8s_bridge.ledger.reread import reread_lease, reread_page
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.k8s_bridge.runtime.concurrency import patiently, together
from fourleaf.k8s_bridge.runtime.randomness import chance
from fourleaf.model.gang import GangKey


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A gang to be bound: all members that are not bound yet."""

    gang: GangKey
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A gang whose commit did not take, and why; nothing of it counts."""

    gang: GangKey
    why: str
    conflict: bool = False


LEASES_PATIENCE_SECONDS = 1.0
"""Seconds for which pages wait for the gang leases of a batch, so that each is written once."""

OnLost = Callable[[Rejected], None]
OnTook = Callable[[GangKey], None]


@dataclass(frozen=True, slots=True)
class CommitOutcome:
    """What became of a transaction: names of commits that took, and gangs that did not.

    Of one that is `unfinished`, some may still do either.
    """

    committed: tuple[str, ...]
    rejected: tuple[Rejected, ...]
    unfinished: bool = False


@dataclass(slots=True, eq=False)
class _Draft:
    """One gang on its way through the steps; `failure` ends it, of which `lost` hears, or `took`.

    Its pages may be written once it is `prepared`; `written` once none of them is left to write.
    """

    commit: str
    request: CommitRequest
    parts: dict[str, tuple[Member, ...]]
    lost: OnLost | None
    took: OnTook | None
    lease: GangLease | None = None
    failure: str = ""
    conflict: bool = False
    prepared: asyncio.Event = field(default_factory=asyncio.Event)
    written: asyncio.Event = field(default_factory=asyncio.Event)
    _done: set[str] = field(default_factory=set)

    @property
    def wide(self) -> bool:
        return len(self.parts) > 1

    def fail(self, why: str, conflict: bool = False) -> None:
        if not self.failure:
            self.failure, self.conflict = why, conflict

    @property
    def rejected(self) -> Rejected:
        return Rejected(self.request.gang, self.failure, self.conflict)

    def page_done(self, name: str) -> None:
        self._done.add(name)
        if len(self._done) == len(self.parts):
            self.written.set()


@dataclass(slots=True, eq=False)
class Committer:
    """Commits plans; `decided` hears of each commit as it takes.

    Transactions may overlap: each page is written by one at a time, and a gang waits for its own
    records alone.
    """

    records: Records
    ledger: Ledger
    pods: PodLister
    epoch: int
    trials: BindingTrials
    decided: Callable[[str], None]
    new_name: Callable[[], str] = field(default=lambda: f"{chance().getrandbits(48):012x}")

    async def commit(
        self,
        plan: Sequence[CommitRequest],
        lost: OnLost | None = None,
        took: OnTook | None = None,
    ) -> CommitOutcome:
        """Write the records of all gangs of `plan`; each takes as a whole or not at all.

        `lost` hears of each that does not, and `took` of each that does, as soon as that is
        certain. Raises `Fenced` where another leader has taken over.
        """
        drafts = self._drafts(plan, lost, took)
        undecided = (Commit(d.commit, d.request.gang, None, d.request.members, ()) for d in drafts)
        with self.ledger.deciding(undecided):
            tried = await together(self._tried(request) for request in plan)
            for draft, (refusal, conflict) in zip(drafts, tried, strict=True):
                if refusal:
                    draft.fail(refusal, conflict)
                if draft.failure:
                    self._ends(draft)
            await self._write(_sound(drafts))
        return CommitOutcome(
            tuple(d.commit for d in drafts if not d.failure),
            tuple(d.rejected for d in drafts if d.failure),
        )

    def _ends(self, draft: _Draft) -> None:
        """What became of a gang is certain."""
        self.ledger.decided(draft.commit)
        if draft.failure and draft.lost is not None:
            draft.lost(draft.rejected)

    def _drafts(
        self, plan: Sequence[CommitRequest], lost: OnLost | None, took: OnTook | None
    ) -> list[_Draft]:
        drafts = []
        for request in plan:
            parts: dict[str, list[Member]] = {}
            homeless = sealed = ""
            for member in request.members:
                page = self.ledger.page_of(member.node)
                homeless = homeless or ("" if page else member.node)
                sealed = sealed or (page if page in self.ledger.sealed else "") or ""
                parts.setdefault(page or "", []).append(member)
            grouped = {page: tuple(members) for page, members in parts.items()}
            draft = _Draft(self.new_name(), request, grouped, lost, took)
            if homeless:
                # The node came into the fabric a moment ago, and its page is being written.
                draft.fail(f"no page lists node {homeless}", conflict=True)
            if sealed:
                draft.fail(f"page {sealed} cannot be read by this version")
            elif request.gang in self.ledger.sealed_gangs:
                draft.fail("a record about it cannot be read by this version")
            drafts.append(draft)
        return drafts

    async def _tried(self, request: CommitRequest) -> tuple[str, bool]:
        """Why it would not be bound, "" where it would, and whether that was no answer yet."""
        try:
            return await self.trials.refusal(request.gang, request.members), False
        except StillAsked as error:
            return str(error), True

    async def _write(self, drafts: Sequence[_Draft]) -> None:
        """Write every page once, with the entries of all gangs that touch it."""
        by_page: dict[str, list[_Draft]] = {}
        for draft in drafts:
            for page in draft.parts:
                by_page.setdefault(page, []).append(draft)
        await together(
            [
                *(self._prepare(draft) for draft in drafts),
                *(self._write_page(name, touching) for name, touching in by_page.items()),
                *(self._decide(draft) for draft in drafts),
            ]
        )

    async def _prepare(self, draft: _Draft) -> None:
        """Write the gang lease of a wide gang: it says the whole plan and decides nothing yet."""
        if draft.wide:
            await self._write_lease(draft)
        draft.prepared.set()

    async def _write_lease(self, draft: _Draft) -> None:
        lease = GangLease(
            name=gang_lease_name(draft.request.gang.name, draft.commit),
            commit=draft.commit,
            gang=draft.request.gang,
            phase=Phase.PREPARED,
            members=draft.request.members,
            pages=tuple(draft.parts),
            epoch=self.epoch,
        )
        try:
            self.records.check(lease)
            draft.lease = await self.records.write_lease(lease)
        except (ClusterError, BadRecord) as error:
            draft.fail(f"its gang lease was not written: {error}")
        else:
            self.ledger.put_lease(draft.lease)

    async def _write_page(self, name: str, drafts: Sequence[_Draft]) -> None:
        """Write a page; once more for those whose gang leases are long in being written."""
        left = list(drafts)
        while left:
            await self._prepared(left)
            ready = [draft for draft in left if draft.prepared.is_set()]
            left = [draft for draft in left if not draft.prepared.is_set()]
            async with self.ledger.writing.of([name]):
                await self._add_entries(name, _sound(ready))
            for draft in ready:
                draft.page_done(name)

    async def _prepared(self, drafts: Sequence[_Draft]) -> None:
        """Wait until all are prepared, or after a while until one is."""
        late = [draft for draft in drafts if not draft.prepared.is_set()]
        waits = [asyncio.ensure_future(_is_prepared(draft)) for draft in late]
        if not waits:
            return
        try:
            await patiently(waits, self.trials.clock.sleep(LEASES_PATIENCE_SECONDS))
            if len(late) == len(drafts):
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _add_entries(self, name: str, drafts: Sequence[_Draft]) -> None:
        page = self.ledger.page(name)
        if page is None:
            for draft in drafts:
                draft.fail(f"page {name} is not there", conflict=True)
            return
        kept = tidied(page, self.ledger, self.pods)
        added, drafts = _fitting(name, kept, _listed(name, page, drafts))
        if not added:
            return
        new = replace(kept, entries=(*kept.entries, *added), epoch=self.epoch)
        try:
            self.ledger.put_page(await self.records.write_page(new))
            for draft in drafts:
                if not draft.wide:
                    self._takes(draft)
        except (Conflict, NotFound) as error:
            now = await reread_page(self.records, self.ledger, self.epoch, name)
            # Admission may deny by any status: no other has written the page then.
            is_other = now is None or now.version != page.version
            what = "has changed" if is_other else "was not written"
            for draft in drafts:
                draft.fail(f"page {name} {what}: {error}", conflict=is_other)
        except (ClusterError, BadRecord) as error:
            for draft in drafts:
                draft.fail(f"page {name} was not written: {error}")

    async def _decide(self, draft: _Draft) -> None:
        """Commit a wide gang, or let its gang lease go where it cannot be."""
        await draft.written.wait()
        if draft.lease and not draft.failure:
            await self._commit_lease(draft, draft.lease)
        if draft.lease and draft.failure:
            await self._withdraw(draft.lease)
        self._ends(draft)

    async def _commit_lease(self, draft: _Draft, lease: GangLease) -> None:
        """Write the gang lease as committed: the one write that counts."""
        decided = replace(lease, phase=Phase.COMMITTED)
        try:
            self.ledger.put_lease(await self.records.write_lease(decided))
            self._takes(draft)
        except (Conflict, NotFound) as error:
            draft.fail(f"gang lease {lease.name} has changed: {error}", conflict=True)
            draft.lease = await reread_lease(self.records, self.ledger, self.epoch, lease.name)
        except (ClusterError, BadRecord) as error:
            draft.fail(f"gang lease {lease.name} was not committed: {error}")

    def _takes(self, draft: _Draft) -> None:
        self.ledger.decided(draft.commit)
        self.decided(draft.commit)
        if draft.took is not None:
            draft.took(draft.request.gang)

    async def _withdraw(self, lease: GangLease) -> None:
        """Delete the gang lease of a gang that did not take; its entries are void from then on."""
        try:
            await self.records.delete(lease.name, lease.version)
        except ClusterError:
            # It stays Prepared and in the ledger: the reconciler comes back to it.
            return
        self.ledger.drop_lease(lease.name)


async def _is_prepared(draft: _Draft) -> None:
    await draft.prepared.wait()


def _listed(name: str, page: Page, drafts: Iterable[_Draft]) -> list[_Draft]:
    """The drafts whose nodes the page still lists; the others fail: they have moved meanwhile."""
    nodes = set(page.nodes)
    listed = []
    for draft in drafts:
        moved = next((one.node for one in draft.parts[name] if one.node not in nodes), None)
        if moved is None:
            listed.append(draft)
        else:
            draft.fail(f"page {name} no longer lists node {moved}", conflict=True)
    return listed


def _fitting(name: str, page: Page, drafts: Sequence[_Draft]) -> tuple[list[Entry], list[_Draft]]:
    """The entries for which the page has room, and whose they are; the others fail."""
    room = room_on(page)
    added, fitting = [], []
    for draft in drafts:
        lease = draft.lease.name if draft.lease else ""
        entry = Entry(draft.commit, draft.request.gang, draft.parts[name], lease)
        if entry_size(entry) > room:
            draft.fail(f"page {name} is full until its nodes are shared out among more pages")
            continue
        room -= entry_size(entry)
        added.append(entry)
        fitting.append(draft)
    return added, fitting


def _sound(drafts: Sequence[_Draft]) -> list[_Draft]:
    return [draft for draft in drafts if not draft.failure]
