"""Which gangs a cycle considers: by priority, each namespace in turn, then age."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.instance.gang_classes import dealt, gang_order


@dataclass(frozen=True, slots=True)
class BatchSelection:
    """The batch in its order, and why each other gang is not in it."""

    batch: tuple[Gang, ...]
    left_out: dict[GangKey, ReasonKind]


def select_batch(snapshot: Snapshot) -> BatchSelection:
    """The batch of one cycle (docs/model.md, section 7)."""
    spec = snapshot.config.spec
    batch: list[Gang] = []
    left_out: dict[GangKey, ReasonKind] = {}
    gangs: Counter[str] = Counter()
    members: Counter[str] = Counter()
    for gang in snapshot.gangs:
        if gang.hold is not None:
            left_out[gang.key] = ReasonKind(gang.hold.kind)
    for gang in dealt(snapshot.gangs):
        namespace = gang.key.namespace
        policy = spec.namespace(namespace)
        pods = sum(len(role.pods) for role in gang.roles)
        too_many = (policy.max_gangs is not None and gangs[namespace] >= policy.max_gangs) or (
            policy.max_members is not None and members[namespace] + pods > policy.max_members
        )
        if too_many:
            left_out[gang.key] = ReasonKind.NAMESPACE_LIMIT
        elif len(batch) >= spec.batch.size:
            left_out[gang.key] = ReasonKind.NOT_IN_BATCH
        else:
            batch.append(gang)
            gangs[namespace] += 1
            members[namespace] += pods
    return BatchSelection(tuple(sorted(batch, key=gang_order)), left_out)
