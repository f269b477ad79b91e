"""Pages and gang leases as Leases, in each of the formats that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import orjson

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.formats import v1, v2, v3
from fourleaf.k8s_bridge.ledger.formats.envelope import (
    RECORD_LIMIT_BYTES,
    Annotations,
    format_of,
    has_room,
    lease_body,
    name_of,
    sealed,
)
from fourleaf.k8s_bridge.ledger.names import GANG, PAGE, page_name
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Page
from fourleaf.k8s_bridge.ledger.sealed import BadRecord, SealedRecord

PAGE_RESERVE_BYTES = 10 * 1024
"""Bytes of a page that no new entry takes: entries grow when their commits roll back."""

_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """One way to write records down, and to read them again."""

    page: Callable[[Page], Annotations]
    gang: Callable[[GangLease], Annotations]
    read_page: Callable[[Body], Page]
    read_gang: Callable[[Body], GangLease]


FORMATS: Mapping[int, RecordFormat] = {
    one.NUMBER: RecordFormat(one.page, one.gang, one.read_page, one.read_gang)
    for one in (v1, v2, v3)
}
"""Every format by its number."""

KNOWN = tuple(FORMATS)
"""What this version reads and writes."""


def page_body(page: Page, writer: str) -> Body:
    """The Lease that `page` is written as. Raises `BadRecord` where it is too large."""
    name = page_name(page.leaf, page.part)
    said = FORMATS[page.format].page(page)
    return lease_body(name, PAGE, said, page.version, page.epoch, writer)


def gang_body(lease: GangLease, writer: str, known: Iterable[int] = KNOWN) -> Body:
    """The Lease that a gang lease is written as, in format 3 where the widest has no room for it.

    So every other one can be written back in the widest at any time. Raises `BadRecord` where it
    is too large.
    """
    number = lease.format
    if not has_room(v1.gang(lease)):
        number = v3.NUMBER if v3.NUMBER in known else v1.NUMBER
    said = FORMATS[number].gang(lease)
    return lease_body(lease.name, GANG, said, lease.version, lease.epoch, writer)


def differs(number: int, written: int) -> bool:
    """Whether a record in format `number` is to be written anew where `written` is configured.

    What is compressed has no room in any other.
    """
    return number not in (written, v3.NUMBER)


def room_on(page: Page) -> int:
    """Bytes that further entries of `page` may take.

    Counted in format 1, the widest: every page can be written back in it at any time.
    """
    return RECORD_LIMIT_BYTES - PAGE_RESERVE_BYTES - len(orjson.dumps(v1.page_content(page)))


def entry_size(entry: Entry) -> int:
    """Bytes that `entry` takes on its page, in format 1."""
    return len(orjson.dumps(v1.entry_content(entry))) + len(",")


def read_page(body: Body, known: Iterable[int] = KNOWN) -> Page:
    """The page that a Lease holds. Raises `BadRecord`, `SealedRecord` where it has an envelope."""
    page = read_as(body, known, {number: one.read_page for number, one in FORMATS.items()})
    if page_name(page.leaf, page.part) != name_of(body):
        what = f"holds the page of leaf {page.leaf}, part {page.part}"
        raise BadRecord(f"lease {name_of(body)} {what}")
    return page


def read_gang(body: Body, known: Iterable[int] = KNOWN) -> GangLease:
    """The gang lease that a Lease holds. Raises `BadRecord`, `SealedRecord` as for a page."""
    return read_as(body, known, {number: one.read_gang for number, one in FORMATS.items()})


def read_as(
    body: Body, known: Iterable[int], readers: Mapping[int, Callable[[Body], _Record]]
) -> _Record:
    """A record, read by the reader of its format. Raises `BadRecord`.

    That is a `SealedRecord` where the format is not `known`, or the content makes no sense but
    an envelope says what it is about.
    """
    number = format_of(body, known)
    try:
        return readers[number](body)
    except BadRecord as error:
        found = sealed(body, str(error))
        if found.sealed.opaque:
            raise
        raise found from error


__all__ = [
    "FORMATS",
    "KNOWN",
    "PAGE_RESERVE_BYTES",
    "RECORD_LIMIT_BYTES",
    "BadRecord",
    "RecordFormat",
    "SealedRecord",
    "differs",
    "entry_size",
    "gang_body",
    "page_body",
    "read_as",
    "read_gang",
    "read_page",
    "room_on",
]
