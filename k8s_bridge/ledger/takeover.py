"""What a new leader does before anything else: fence the old one, then read, then decide.

Every page is written anew in the new epoch. From then on any write of a paused predecessor
carries a stale version and fails. What it managed to write before shows as a conflict here,
and is read again with the gang leases that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.names import GANGS, PAGES, page_name
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import GangLease, Page, Phase
from fourleaf.k8s_bridge.ledger.reread import reread_lease, reread_page
from fourleaf.k8s_bridge.ledger.sealed import BadRecord, Sealed, SealedRecord
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.concurrency import together

_Record = TypeVar("_Record", Page, GangLease)


@dataclass(frozen=True, slots=True)
class ListedRecords:
    """The records as they were listed. `unreadable` are names of Leases that make no sense.

    `sealed` are those that cannot be read, but say what they are about.
    """

    pages: tuple[Page, ...]
    leases: tuple[GangLease, ...]
    unreadable: tuple[str, ...] = ()
    sealed: tuple[Sealed, ...] = ()

    @property
    def epoch(self) -> int:
        """The highest epoch of any record."""
        every: list[Page | GangLease | Sealed] = [*self.pages, *self.leases, *self.sealed]
        return max((one.epoch for one in every), default=0)


async def find(records: Records) -> ListedRecords:
    """List pages, then gang leases: one that a page names is in the second list, or gone."""
    unreadable: list[str] = []
    sealed: list[Sealed] = []
    pages = tuple(_read(await records.list(PAGES), records.page, unreadable, sealed))
    leases = tuple(_read(await records.list(GANGS), records.lease, unreadable, sealed))
    return ListedRecords(pages, leases, tuple(unreadable), tuple(sealed))


def _read(
    bodies: Iterable[Body],
    read: Callable[[Body], _Record],
    unreadable: list[str],
    sealed: list[Sealed],
) -> Iterator[_Record]:
    for body in bodies:
        try:
            yield read(body)
        except SealedRecord as error:
            sealed.append(error.sealed)
        except BadRecord as error:
            unreadable.append(str(error))


@dataclass(slots=True, eq=False)
class Takeover:
    """Makes the records ours. `epoch` must be above that of every record found."""

    records: Records
    ledger: Ledger
    epoch: int
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    async def fence(self, found: ListedRecords) -> None:
        """Delete what was only prepared, then write every page anew.

        Afterwards the ledger holds all that counts. Raises `Fenced` where yet another leader
        has taken over.
        """
        for one in found.sealed:
            self.ledger.put_sealed(one)
        for page in found.pages:
            self.ledger.put_page(page)
        for lease in found.leases:
            self.ledger.put_lease(lease)
        await together(self._settle(lease) for lease in found.leases)
        await together(self._claim(page) for page in found.pages)

    async def _settle(self, lease: GangLease) -> None:
        """Delete a gang lease that is only prepared; one that got committed meanwhile stays."""
        now: GangLease | None = lease
        denied = self.records.backoff()
        while now is not None and now.phase is Phase.PREPARED:
            before = now.version
            try:
                await self.records.delete(now.name, before)
                now = None
            except Conflict as error:
                now = await reread_lease(self.records, self.ledger, self.epoch, lease.name)
                if now is not None and now.version == before:
                    await self._wait(denied, lease.name, error)
        if now is None:
            if lease.name not in self.ledger.sealed:
                self.ledger.drop_lease(lease.name)
        else:
            self.ledger.put_lease(now)

    async def _claim(self, page: Page) -> None:
        """Write the page in our epoch, without entries that point to nothing.

        An entry that points to a sealed gang lease may be part of a commit.
        """
        name = page_name(page.leaf, page.part)
        now: Page | None = page
        denied = self.records.backoff()
        while now is not None:
            before = now.version
            await self._settle_unknown(now)
            kept = tuple(
                entry
                for entry in now.entries
                if not entry.lease
                or self.ledger.lease(entry.lease) is not None
                or entry.lease in self.ledger.sealed
            )
            try:
                written = await self.records.write_page(
                    replace(now, entries=kept, epoch=self.epoch)
                )
            except (Conflict, NotFound) as error:
                now = await reread_page(self.records, self.ledger, self.epoch, name)
                if now is not None and now.version == before:
                    await self._wait(denied, name, error)
            else:
                self.ledger.put_page(written)
                return

    async def _wait(self, denied: Backoff, name: str, error: ClusterError) -> None:
        """Admission may deny by any status: no other has written the record then."""
        self._log.info("request_repeated", lease=name, why=str(error))
        await denied.wait(error.retry_after)

    async def _settle_unknown(self, page: Page) -> None:
        """Look up gang leases that the page names and that were not there when we listed."""
        for name in {entry.lease for entry in page.entries if entry.lease}:
            if self.ledger.lease(name) is None and name not in self.ledger.sealed:
                lease = await reread_lease(self.records, self.ledger, self.epoch, name)
                if lease is not None:
                    await self._settle(lease)
