"""Records read again, when a write of theirs has met another version.

Before a pod that has changed since is bound for a commit, the pod is read first, the record after
it. A rollback writes the record first and fences the pod after it. So where the record still
stands, the version of the pod is from before any fence, and a binding under that version fails
once there is one.
"""

from __future__ import annotations

import structlog

from fourleaf.k8s_bridge.ledger.epoch import check_epoch
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.record_store import Records
from fourleaf.k8s_bridge.ledger.records import GangLease, Page, Phase
from fourleaf.k8s_bridge.ledger.sealed import BadRecord, SealedRecord


async def page_again(records: Records, book: Ledger, epoch: int, name: str) -> Page | None:
    """Read a page into the book; None, and out of the book, where it is gone or unreadable.

    One that is sealed is in the book as that.

    Raises `Fenced` where a leader of a later epoch than ours wrote it.
    """
    body = await records.read(name)
    try:
        page = None if body is None else records.page(body)
    except SealedRecord as error:
        check_epoch(epoch, error.sealed.epoch, f"lease {name}")
        book.put_sealed(error.sealed)
        return None
    except BadRecord as error:
        structlog.get_logger(__name__).error("record_unreadable", why=str(error))
        page = None
    if page is None:
        book.drop_page(name)
        return None
    check_epoch(epoch, page.epoch, f"page {name}")
    book.put_page(page)
    return page


async def lease_again(records: Records, book: Ledger, epoch: int, name: str) -> GangLease | None:
    """Read a gang lease into the book; None, and out of the book, as for a page.

    Raises `Fenced` where a leader of a later epoch than ours wrote it.
    """
    body = await records.read(name)
    try:
        lease = None if body is None else records.lease(body)
    except SealedRecord as error:
        check_epoch(epoch, error.sealed.epoch, f"lease {name}")
        book.put_sealed(error.sealed)
        return None
    except BadRecord as error:
        structlog.get_logger(__name__).error("record_unreadable", why=str(error))
        lease = None
    if lease is None:
        book.drop_lease(name)
        return None
    check_epoch(epoch, lease.epoch, f"gang lease {name}")
    book.put_lease(lease)
    return lease


async def stands(records: Records, book: Ledger, epoch: int, name: str) -> bool:
    """Whether the record of the commit `name`, by a quorum read, says that it is committed.

    Raises `Fenced` where a leader of a later epoch than ours wrote it.
    """
    commit = book.commit(name)
    if commit is None:
        return False
    try:
        if commit.lease is not None:
            return await _lease_stands(records, epoch, commit.lease.name)
        return all([await _page_stands(records, epoch, page, name) for page in commit.pages])
    except SealedRecord as error:
        check_epoch(epoch, error.sealed.epoch, f"lease {error.sealed.name}")
        return False
    except BadRecord as error:
        structlog.get_logger(__name__).error("record_unreadable", why=str(error))
        return False


async def _lease_stands(records: Records, epoch: int, name: str) -> bool:
    body = await records.read(name)
    if body is None:
        return False
    lease = records.lease(body)
    check_epoch(epoch, lease.epoch, f"gang lease {name}")
    return lease.phase is Phase.COMMITTED


async def _page_stands(records: Records, epoch: int, name: str, commit: str) -> bool:
    body = await records.read(name)
    if body is None:
        return False
    page = records.page(body)
    check_epoch(epoch, page.epoch, f"page {name}")
    found = [entry.phase for entry in page.entries if entry.commit == commit]
    return found == [Phase.COMMITTED]
