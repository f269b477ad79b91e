"""Which relocations of one plan need nothing of others: no node of theirs, and no uplink."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.model.gang import GangKey
from fourleaf.model.running_gang import StandingGang


def independent(
    plan: Sequence[Relocation], off: Collection[GangKey], standing: Iterable[StandingGang]
) -> list[Relocation]:
    """What of `plan` holds without the relocations of the gangs `off`, and without what needs them.

    A seat may be where another member goes away from. Gangs that ask for bandwidth may need what
    others of the kind leave of an uplink, so all of these stand or fall together.
    """
    wired = {one.gang.key for one in standing if one.gang.bandwidth is not None}
    kept = [one for one in plan if one.gang not in off]
    out = [one for one in plan if one.gang in off]
    while out:
        nodes = frozenset[str]().union(*map(_nodes, out))
        with_uplinks = any(one.gang in wired for one in out)
        out = [
            one
            for one in kept
            if not nodes.isdisjoint(_nodes(one)) or (with_uplinks and one.gang in wired)
        ]
        kept = [one for one in kept if one not in out]
    return kept


def _nodes(one: Relocation) -> frozenset[str]:
    """Where its members go from and to."""
    leaving = (leaver.node for leaver in one.leavers if not leaver.lost)
    return frozenset([*leaving, *(seat.node for seat in one.seats)])
