"""Records read again, when a write of theirs has met another version.

Before a pod that has changed since is bound for a commit, the pod is read first, the record after
it. A rollback writes the record first and fences the pod after it. So where the record still
stands, the version of the pod is from before any fence, and a binding under that version fails
once there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import structlog

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.epoch import check_epoch
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import GangLease, Page, Phase
from fourleaf.k8s_bridge.ledger.sealed import BadRecord, Sealed, SealedRecord

Record = TypeVar("Record", Page, GangLease)


async def reread_page(records: Records, ledger: Ledger, epoch: int, name: str) -> Page | None:
    """Read a page into the ledger; None, and out of it, where it is gone or unreadable.

    One that is sealed is in the ledger as that. Raises `Fenced` where a leader of a later epoch
    than ours wrote it.
    """
    page = await _reread(records, epoch, name, records.page)
    return _kept(ledger, name, page, ledger.put_page, ledger.drop_page)


async def reread_lease(records: Records, ledger: Ledger, epoch: int, name: str) -> GangLease | None:
    """The same for a gang lease."""
    lease = await _reread(records, epoch, name, records.lease)
    return _kept(ledger, name, lease, ledger.put_lease, ledger.drop_lease)


async def stands(records: Records, ledger: Ledger, epoch: int, name: str) -> bool:
    """Whether the record of the commit `name`, by a quorum read, says that it is committed.

    Raises `Fenced` where a leader of a later epoch than ours wrote it.
    """
    commit = ledger.commit(name)
    if commit is None:
        return False
    if commit.lease is not None:
        lease = await _reread(records, epoch, commit.lease.name, records.lease)
        return isinstance(lease, GangLease) and lease.phase is Phase.COMMITTED
    for one in commit.pages:
        page = await _reread(records, epoch, one, records.page)
        entries = page.entries if isinstance(page, Page) else ()
        if [entry.phase for entry in entries if entry.commit == name] != [Phase.COMMITTED]:
            return False
    return True


async def _reread(
    records: Records, epoch: int, name: str, read: Callable[[Body], Record]
) -> Record | Sealed | None:
    """The record of that name now, as sealed where it is; None where it is gone or unreadable."""
    body = await records.read(name)
    try:
        record = None if body is None else read(body)
    except SealedRecord as error:
        check_epoch(epoch, error.sealed.epoch, f"lease {name}")
        return error.sealed
    except BadRecord as error:
        structlog.get_logger(__name__).error("record_unreadable", why=str(error))
        return None
    if record is not None:
        check_epoch(epoch, record.epoch, f"{_KINDS[type(record)]} {name}")
    return record


_KINDS: dict[type, str] = {Page: "page", GangLease: "gang lease"}


def _kept(
    ledger: Ledger,
    name: str,
    record: Record | Sealed | None,
    put: Callable[[Record], None],
    drop: Callable[[str], None],
) -> Record | None:
    """`record`, once the ledger holds what was read."""
    if isinstance(record, Sealed):
        ledger.put_sealed(record)
        return None
    if record is None:
        drop(name)
        return None
    put(record)
    return record
