"""Unreadable records: a gang that a sealed one is about waits for a version that can read it."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.sealed import Sealed
from fourleaf.k8s_bridge.scheduling.holds.hold_back import HoldRule
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.plan import Placement
from fourleaf.model.reasons.kinds import Reason, ReasonKind

_STEP = (
    "Run the version of the scheduler that wrote it, "
    "or let that one write its records in the older format."
)


def rule(ledger: Ledger) -> HoldRule | None:
    """Hold the gangs that no one here knows all about."""
    gangs = ledger.sealed_gangs

    def hold(gang: Gang) -> Hold | None:
        if gang.key not in gangs:
            return None
        why = reason(gang.key, ledger.sealed)
        return Hold(why.kind, why.detail, (), why.unblock)

    return hold if gangs else None


def reason(gang: GangKey, sealed: Iterable[Sealed]) -> Reason:
    """Which of the `sealed` records keeps a gang waiting."""
    named = sorted(one.name for one in sealed if gang in one.gangs)
    what = f"lease {named[0]}" if named else "a lease"
    detail = f"{what} is about it and is written in a format that this version cannot read"
    return Reason(ReasonKind.RECORD_UNREADABLE, detail, unblock=(_STEP,))


def readable(placements: list[Placement], ledger: Ledger) -> list[Placement]:
    """Those of `placements` whose gangs may be touched."""
    gangs = ledger.sealed_gangs
    return [one for one in placements if one.gang not in gangs]
