"""Whom a waiting gang may evict."""

from __future__ import annotations

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.standing import StandingGang


def waiting_gang(snapshot: Snapshot, key: GangKey) -> Gang:
    """The waiting gang of this name. Raises `KeyError` where there is none."""
    for gang in snapshot.gangs:
        if gang.key == key:
            return gang
    raise KeyError(f"no gang {key} waits; name one of the gangs of the snapshot")


def possible_victims(snapshot: Snapshot, gang: Gang) -> list[StandingGang]:
    """The gangs that may be evicted for `gang`: alive, of lower priority, and preemptible."""
    return [
        one
        for one in snapshot.standing
        if one.preemptible
        and one.gang.priority < gang.priority
        and one.gang.key != gang.key
        and any(role.bound for role in one.gang.roles)
    ]
