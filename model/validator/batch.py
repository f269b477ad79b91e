"""Which gangs a cycle may place (section 7, item 1)."""

from __future__ import annotations

from collections import Counter

from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import Snapshot


def batch_of(snapshot: Snapshot) -> frozenset[GangKey]:
    """List the gangs of the batch: by priority, turn, age and key, within its limits.

    The turn of a gang is how many of its namespace and priority come before it by age and key.

    A gang that would break a limit of its namespace is passed over; smaller ones behind it
    may still come in.
    """
    spec = snapshot.config.spec
    waiting = [gang for gang in snapshot.gangs if gang.hold is None]
    waiting.sort(key=lambda gang: (-gang.priority, gang.created, gang.key))
    queues: Counter[tuple[int, str]] = Counter()
    turn: dict[GangKey, int] = {}
    for gang in waiting:
        turn[gang.key] = queues[gang.priority, gang.key.namespace]
        queues[gang.priority, gang.key.namespace] += 1
    waiting.sort(key=lambda gang: (-gang.priority, turn[gang.key]))
    gangs: Counter[str] = Counter()
    members: Counter[str] = Counter()
    chosen: list[GangKey] = []
    for gang in waiting:
        if len(chosen) >= spec.batch.size:
            break
        namespace = gang.key.namespace
        policy = spec.namespace(namespace)
        pods = sum(len(role.pods) for role in gang.roles)
        if policy.max_gangs is not None and gangs[namespace] >= policy.max_gangs:
            continue
        if policy.max_members is not None and members[namespace] + pods > policy.max_members:
            continue
        gangs[namespace] += 1
        members[namespace] += pods
        chosen.append(gang.key)
    return frozenset(chosen)
