"""Gangs that a sealed record is about: they wait for a version that can read it."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.plan import Placement
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot

_STEP = (
    "Run the version of the scheduler that wrote it, "
    "or let that one write its records in the older format."
)


def unsealed(snapshot: Snapshot, book: Ledger) -> Snapshot:
    """`snapshot` with the gangs held that nobody here knows all about."""
    gangs = book.sealed_gangs
    if not gangs:
        return snapshot
    return replace(snapshot, gangs=tuple(_held(gang, gangs, book) for gang in snapshot.gangs))


def free_of_seals(placements: list[Placement], book: Ledger) -> list[Placement]:
    """Those of `placements` whose gangs may be touched."""
    gangs = book.sealed_gangs
    return [one for one in placements if one.gang not in gangs]


def _held(gang: Gang, gangs: frozenset[GangKey], book: Ledger) -> Gang:
    if gang.hold is not None or gang.key not in gangs:
        return gang
    named = sorted(one.name for one in book.sealed if gang.key in one.gangs)
    what = f"lease {named[0]}" if named else "a lease"
    detail = f"{what} is about it and is written in a format that this version cannot read"
    return replace(gang, hold=Hold(ReasonKind.RECORD_UNREADABLE, detail, (), (_STEP,)))
