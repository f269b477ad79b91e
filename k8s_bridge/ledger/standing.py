"""Whether a commit still stands: asked before a pod that has changed since is bound for it.

The pod is read first, the record after it. Whoever rolls a commit back writes the record
first and fences the pod after it. So where the record still stands, the version of the pod is
from before any fence, and a binding under that version fails once there is one.
"""

from __future__ import annotations

import structlog

from fourleaf.k8s_bridge.ledger.book import Book
from fourleaf.k8s_bridge.ledger.fence import check_epoch
from fourleaf.k8s_bridge.ledger.records import Phase
from fourleaf.k8s_bridge.ledger.unreadable import BadRecord, SealedRecord
from fourleaf.k8s_bridge.ledger.writes import Records


async def stands(records: Records, book: Book, epoch: int, name: str) -> bool:
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
