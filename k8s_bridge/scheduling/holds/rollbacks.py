"""Gangs of which something is still being taken back: they wait until that is over.

Planned any earlier, the members that are gone already would be placed beside those that only
seem to stay, and run without them.
"""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.records import Phase
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot

_DETAIL = "some members are still being taken back from where they could not all run"
_STEP = "It is planned again as a whole as soon as they have ended."


def returning(book: Ledger) -> frozenset[GangKey]:
    """The gangs of commits that are being rolled back."""
    commits = book.open_commits()
    return frozenset(one.gang for one in commits if one.phase is Phase.ROLLING_BACK)


def held(snapshot: Snapshot, gangs: frozenset[GangKey]) -> Snapshot:
    """`snapshot` with those of `gangs` held that nothing else holds."""
    if not gangs:
        return snapshot
    return replace(snapshot, gangs=tuple(_held(gang, gangs) for gang in snapshot.gangs))


def _held(gang: Gang, gangs: frozenset[GangKey]) -> Gang:
    if gang.hold is not None or gang.key not in gangs:
        return gang
    return replace(gang, hold=Hold(ReasonKind.MEMBERS_MISSING, _DETAIL, (), (_STEP,)))
