"""The relocations under way, as the leader knows them and as they stand in the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.binding_trials import Spawn
from fourleaf.k8s_bridge.ledger.epoch import check_epoch, epoch_read
from fourleaf.k8s_bridge.ledger.formats.codec import differs
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.sealed import BadRecord, SealedRecord
from fourleaf.k8s_bridge.relocation.codec import (
    RELOCATION,
    RELOCATIONS,
    read_relocation,
    relocation_body,
    relocation_name,
)
from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import first_told, patiently
from fourleaf.k8s_bridge.runtime.keyed_locks import KeyedLocks
from fourleaf.k8s_bridge.runtime.record_retries import RecordRetries
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.drafts import KeptPlaces

DELETE_RETRY_SECONDS = 1.0
DELETE_RETRY_LIMIT_SECONDS = 30.0
"""Seconds after which a relocation that could not be deleted is tried again, and to which they
grow."""

NEW_RECORD_LIMIT_SECONDS = 120.0
"""Seconds to which waits grow for a relocation that was never written: each try of one costs a plan
for its gang."""

RECORD_PATIENCE_SECONDS = 3.0
"""Seconds for which relocations are waited for that are being written, taken over or looked at;
those about which the API is longer in answering go on beside."""

NEXT_PAGE_SECONDS = 1.0
"""Seconds that the API has to answer about one page before the next one is asked for as well."""


@dataclass(slots=True, eq=False)
class RelocationStore:
    """One relocation a gang. What writes raises `Fenced` where another leads by now.

    `ledger` is that of the same term; `spawn` starts what ends with it. One that is being written
    for the first time keeps its places already, so that nothing else is planned there; the
    next leader may find it or not. No pod goes for one while a request about it is unanswered.
    `freed` is called as soon as places are kept no longer, and `unwritten` hears of a relocation
    that could not be written.
    """

    records: Records
    ledger: Ledger
    epoch: int
    clock: Clock
    spawn: Spawn
    freed: Callable[[], None]
    unwritten: Callable[[Relocation], None] | None = None
    _open: dict[GangKey, Relocation] = field(default_factory=dict)
    _kept: dict[GangKey, tuple[Relocation, KeptPlaces]] = field(default_factory=dict)
    _turns: KeyedLocks = field(default_factory=KeyedLocks)
    """One for each gang: no two requests about its Lease are under way at once."""
    _undeleted: dict[GangKey, tuple[float, Backoff]] = field(default_factory=dict)
    """Gangs whose relocation the API did not let go: when the next try is due, monotonic."""
    _retries: RecordRetries = field(init=False)
    _new_ones: RecordRetries = field(init=False)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._retries = RecordRetries(self.clock)
        self._new_ones = RecordRetries(self.clock, NEW_RECORD_LIMIT_SECONDS)

    def __iter__(self) -> Iterator[Relocation]:
        return iter(tuple(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, gang: object) -> bool:
        return gang in self._open or self._turns.holds(str(gang))

    def of(self, gang: GangKey) -> Relocation | None:
        """The relocation of `gang`, None where there is none."""
        return self._open.get(gang)

    async def take_over(self) -> None:
        """Read what the last leader had under way, and write it anew: so it can write no more.

        All of it holds at once; what the API is long in writing is claimed beside the term.
        """
        found = self._readable(await self.records.list(RELOCATIONS))
        self._open |= {one.gang: one for one in found}
        await self.a_while([self.spawn(self._claim(one)) for one in found])

    def holds(self, one: Relocation) -> bool:
        """Whether `one` stands as it is: neither ended nor written anew since."""
        return self._open.get(one.gang) == one

    def kept_places(self) -> Mapping[GangKey, KeptPlaces]:
        """What is kept for each gang of which members move, the same objects until that changes."""
        for gang in self._kept.keys() - self._open.keys():
            del self._kept[gang]
        for gang, one in self._open.items():
            known = self._kept.get(gang)
            if known is None or known[0] is not one:
                self._kept[gang] = one, _kept_by(one)
        return {gang: places for gang, (_, places) in self._kept.items() if places.seats}

    def is_written(self, gang: GangKey) -> bool:
        """Whether the relocation of `gang` stands in the cluster, as far as is known."""
        one = self._open.get(gang)
        return one is not None and bool(one.version)

    def may_evict(self, one: Relocation) -> bool:
        """Whether `one` stands as it is, and in the cluster, written in this term."""
        is_mine = bool(one.version) and one.epoch == self.epoch
        return self.holds(one) and is_mine and not self._turns.holds(str(one.gang))

    async def put(self, one: Relocation) -> bool:
        """Write `one` down; whether it holds. One that stands already is left as it is.

        Where the API is long in answering, it holds, and is not written yet.
        """
        return bool(await self.put_all([one]))

    def _begun(self, one: Relocation, held: list[Relocation]) -> asyncio.Task[None] | None:
        """The write of `one`, which is taken off `held` where that fails; None where it cannot."""
        if self._turns.holds(str(one.gang)):
            return None
        try:
            body = self._body(one)
        except BadRecord as error:
            self._log.warning(
                "relocation_not_written", lease=relocation_name(one.gang), why=str(error)
            )
            return None
        if not one.version:
            self._open.setdefault(one.gang, one)
        held.append(one)
        return self.spawn(self._write(one, body, held))

    async def _write(self, one: Relocation, body: Body, held: list[Relocation]) -> None:
        name = relocation_name(one.gang)
        async with self._turns.of([str(one.gang)]):
            try:
                written = await self.records.write_record(name, one.version, body)
                self._open[one.gang] = read_relocation(written)
                self._retries.taken(name)
                self._new_ones.taken(name)
            except (Conflict, NotFound):
                await self._again(one.gang)
                if not self._stands(one):
                    held.remove(one)
            except (ClusterError, BadRecord) as error:
                held.remove(one)
                (self._retries if one.version else self._new_ones).refused(name)
                if self._open.get(one.gang) is one and not one.version:
                    self._let_go(one.gang)
                    if self.unwritten is not None:
                        self.unwritten(one)
                self._log.warning("relocation_not_written", lease=name, why=str(error))

    def _stands(self, one: Relocation) -> bool:
        """Whether what stands says the same, whatever a webhook has added to its Lease.

        The answer to the request that wrote it may have got lost.
        """
        now = self._open.get(one.gang)
        return now is not None and now == replace(
            one, version=now.version, epoch=now.epoch, format=now.format
        )

    async def a_while(
        self, tasks: Sequence[asyncio.Task[None]], seconds: float = RECORD_PATIENCE_SECONDS
    ) -> None:
        """Wait for requests about relocations; those that take longer go on beside."""
        if tasks:
            await patiently(tasks, self.clock.sleep(seconds))
        for task in tasks:
            if task.done():
                # Raises what has ended it.
                await task

    def lacks_room(self, one: Relocation) -> str:
        """Why no Lease can hold `one`, "" where one can."""
        try:
            self._body(one)
        except BadRecord as error:
            return str(error)
        return ""

    def may_write(self, gang: GangKey) -> bool:
        """Whether a new relocation of `gang` may be tried: the API has refused none just now."""
        return self._new_ones.is_due(relocation_name(gang))

    async def put_all(self, several: Iterable[Relocation]) -> list[Relocation]:
        """Write each down, beside the others; those that hold (`put`)."""
        # All of them as of now: who is drafted while others are written is another by then.
        drafts, held = tuple(several), list[Relocation]()
        await self.a_while([task for one in drafts if (task := self._begun(one, held))])
        return list(held)

    async def drop(self, gang: GangKey) -> bool:
        """Delete the relocation of `gang`: its places are free then. Whether this has ended it.

        One that cannot be deleted stands, and is tried again later and later when it is to end. One
        that is not written yet keeps no place any longer: no pod has gone for it.
        """
        one = self._open.get(gang)
        if one is None or not self._may_delete(gang):
            return False
        if not one.version:
            self._let_go(gang)
        async with self._turns.of([str(gang)]):
            now = self._open.get(gang)
            if now is None:
                return not one.version
            return now.opened == one.opened and await self._delete(now)

    def _let_go(self, gang: GangKey) -> bool:
        """Keep no places for it any longer; whether any were kept."""
        if self._open.pop(gang, None) is None:
            return False
        self.freed()
        return True

    async def _delete(self, one: Relocation) -> bool:
        """Delete a relocation, whose turn it is; whether it has ended."""
        gang = one.gang
        try:
            await self.records.delete_once(relocation_name(gang), one.version)
        except Conflict as error:
            await self._again(gang)
            now = self._open.get(gang)
            # Admission may deny by any status: no other has written the record then.
            if now is not None and now.version == one.version:
                self._not_deleted(gang, error)
            return now is None
        except ClusterError as error:
            self._not_deleted(gang, error)
            return False
        self._undeleted.pop(gang, None)
        return self._let_go(gang)

    def _not_deleted(self, gang: GangKey, error: ClusterError) -> None:
        self._log.warning("relocation_not_deleted", gang=str(gang), why=str(error))
        self._put_off(gang, error.retry_after)

    def _may_delete(self, gang: GangKey) -> bool:
        due, _ = self._undeleted.get(gang, (0.0, None))
        return self.clock.monotonic() >= due

    def _put_off(self, gang: GangKey, seconds: float | None) -> None:
        for gone in self._undeleted.keys() - self._open.keys():
            del self._undeleted[gone]
        _, backoff = self._undeleted.get(gang, (0.0, None))
        backoff = backoff or Backoff(self.clock, DELETE_RETRY_SECONDS, DELETE_RETRY_LIMIT_SECONDS)
        wait = backoff.next(max(DELETE_RETRY_SECONDS, seconds or 0.0))
        self._undeleted[gang] = self.clock.monotonic() + wait, backoff

    async def sweep(self) -> None:
        """Take up, or delete, relocations that are not as this store knows them.

        A request to write one may arrive when another leader has long taken over.
        """
        known = {one.gang: one.version for one in self}
        bodies = await self.records.list(RELOCATIONS)
        self.ledger.sealed.keep(RELOCATION, (body["metadata"]["name"] for body in bodies))
        found = {one.gang: one.version for one in self._readable(bodies)}
        # One that stands no more was deleted by another: no pod may go for it.
        written = {gang for gang, version in known.items() if version}
        strays = [
            gang
            for gang in sorted(found.keys() | written)
            if known.get(gang) != found.get(gang) and not self._turns.holds(str(gang))
        ]
        await self.a_while([self.spawn(self._take_up(gang)) for gang in strays])

    async def _take_up(self, gang: GangKey) -> None:
        async with self._turns.of([str(gang)]):
            await self._again(gang)

    async def convert(self) -> None:
        """Write those anew that are not in the configured format, or of this term.

        The API may have refused that at the takeover, and is asked later and later.
        """
        await self.put_all(one for one in self if self._is_to_be_written_anew(one))

    def _is_to_be_written_anew(self, one: Relocation) -> bool:
        is_old = differs(one.format, self.records.formats.written) or one.epoch != self.epoch
        return is_old and bool(one.version) and self._retries.is_due(relocation_name(one.gang))

    def _readable(self, bodies: Iterable[Body]) -> list[Relocation]:
        """The relocations that make sense; sealed ones go to the ledger."""
        found = []
        for body in bodies:
            try:
                one = self._opened(body)
            except BadRecord as error:
                self._log.error("record_unreadable", why=str(error))
                continue
            self.ledger.sealed.drop(relocation_name(one.gang))
            found.append(one)
        return found

    def _opened(self, body: Body) -> Relocation:
        """The relocation that a Lease holds. Raises `BadRecord`."""
        try:
            return read_relocation(body, self.records.formats.known)
        except SealedRecord as error:
            self.ledger.sealed.put(error.sealed)
            raise

    def _body(self, one: Relocation) -> Body:
        """The Lease that `one` is written as, in this term. Raises `BadRecord`."""
        mine = replace(one, epoch=self.epoch, format=self.records.formats.written)
        return relocation_body(mine, self.records.writer, self.records.formats.known)

    async def _claim(self, found: Relocation) -> None:
        """Write anew what the last leader had under way; it holds even where that fails."""
        name = relocation_name(found.gang)
        now: Relocation | None = found
        denied, tried = self.records.backoff(), list[str]()
        async with self._turns.of([str(found.gang)]):
            while now is not None:
                self._open[now.gang] = now
                if tried.count(now.version) > 1:
                    # Admission may deny by any status: no other has written the record then.
                    await denied.wait()
                tried = [*tried[-1:], now.version]
                try:
                    body = self._body(now)
                    written = await self.records.write_record(name, now.version, body)
                    self._open[now.gang] = read_relocation(written)
                    return
                except (Conflict, NotFound):
                    now = await self._read(now.gang)
                except (ClusterError, BadRecord) as error:
                    self._log.warning("relocation_not_written", lease=name, why=str(error))
                    return
            self._let_go(found.gang)

    async def check_lead(self) -> None:
        """Make sure that no other leader has taken over, before any pod is evicted.

        Raises `Fenced` where one has: it writes all pages before it lists relocations, so it
        may know nothing of one that was written late, or have given its places to others. Raises
        `ClusterError` where that cannot be read. Each page tells: where the API is long in
        answering about one, the next one is asked for as well.
        """
        names = [page_name(page.leaf, page.part) for page in self.ledger.pages]
        # One that was made behind a successor's back says nothing of it.
        told = [name for name in names if name not in self.ledger.founded]
        if names and not told:
            raise Ambiguous("all pages are new, and none says yet whether another leads")
        found = await first_told(map(self._epoch_of, told), self.clock, NEXT_PAGE_SECONDS)
        if found is not None:
            name, epoch = found
            check_epoch(self.epoch, epoch, f"page {name}")
        elif told:
            raise Ambiguous(
                "all pages that are known are gone, and none says whether another leads"
            )

    async def _epoch_of(self, name: str) -> tuple[str, int] | None:
        """The name of a page and its epoch, None where there is no such page."""
        body = await self.records.read(name)
        if body is None:
            return None
        return name, epoch_read((body.get("spec") or {}).get("leaseTransitions"))

    async def _again(self, gang: GangKey) -> None:
        """Read the relocation of `gang` into the store, as it stands now.

        One of an earlier epoch came late, by a request of a leader that is none any more.
        """
        found = await self._read(gang)
        if found is not None and found.epoch == self.epoch:
            self._open[gang] = found
            return
        self._let_go(gang)
        if found is None:
            return
        name = relocation_name(gang)
        try:
            await self.records.delete(name, found.version)
        except ClusterError as error:
            self._log.warning("relocation_not_deleted", gang=str(gang), why=str(error))

    async def _read(self, gang: GangKey) -> Relocation | None:
        """The relocation of `gang` as it stands now, None where there is none that makes sense."""
        body = await self.records.read(relocation_name(gang))
        if body is None:
            return None
        try:
            found = self._opened(body)
        except SealedRecord as error:
            check_epoch(self.epoch, error.sealed.epoch, f"lease {error.sealed.name}")
            return None
        except BadRecord as error:
            self._log.error("record_unreadable", why=str(error))
            return None
        check_epoch(self.epoch, found.epoch, f"the relocation of gang {gang}")
        # Names of gangs are their tenants' to choose, so that two have one name for this.
        return found if found.gang == gang else None


def _kept_by(one: Relocation) -> KeptPlaces:
    """The places of a relocation for members that ran, and all that did when it was written."""
    moving = [seat for seat in one.seats if not seat.waits]
    seats = frozenset(seat.pod.uid for seat in moving)
    leavers = (leaver.pod.uid for leaver in one.leavers)
    before = seats.union(leavers, (uid for uid, _ in one.stays))
    return KeptPlaces(seats, before, frozenset(seat.node for seat in moving))
