"""Records read again, when a write of theirs has met another version."""

from __future__ import annotations

import structlog

from fourleaf.k8s_bridge.ledger.book import Book
from fourleaf.k8s_bridge.ledger.fence import check_epoch
from fourleaf.k8s_bridge.ledger.records import GangLease, Page
from fourleaf.k8s_bridge.ledger.unreadable import BadRecord, SealedRecord
from fourleaf.k8s_bridge.ledger.writes import Records


async def page_again(records: Records, book: Book, epoch: int, name: str) -> Page | None:
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


async def lease_again(records: Records, book: Book, epoch: int, name: str) -> GangLease | None:
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
