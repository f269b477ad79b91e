"""A breach: one law that one plan does not keep."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.gang import GangKey


class Law(StrEnum):
    """What a plan can break. The comments name the section of `docs/model.md`."""

    KNOWN = "known"  # 1: gangs, pods and nodes of the plan exist in the snapshot
    ACCOUNTED = "accounted"  # 5.1: every gang is placed or waits, once
    WHOLE = "whole"  # 5.1: every unbound member stands once, in rank order
    BATCH = "batch"  # 5.1, 7.1: only gangs of the batch are placed
    ELIGIBLE = "eligible"  # 5.2, 2
    LOCATION = "location"  # 5.2, 4
    ROOM = "room"  # 5.3
    ONE_PER_NODE = "onePerNode"  # 5.4
    LEAF_CAP = "leafCap"  # 5.5
    QUOTA = "quota"  # 5.6
    UPLINK = "uplink"  # 5.7
    DEVICES = "devices"  # 5.9
    PHANTOM = "phantom"  # 5.8
    RUNNING = "running"  # 1: bound members and running pods stay where they are
    TERMS = "terms"  # 6: the points of a placement
    OBJECTIVE = "objective"  # 7.3: the sum of all points and phantom values
    MOVE = "move"  # 8: a move starts where the pod runs, and its gang may move
    POLICY = "policy"  # 8: what the repair policy of a gang allows
    VICTIM = "victim"  # 8: which pods a gang may evict
    EVICTION = "eviction"  # 8: how many pods may be evicted
    BUDGET = "budget"  # 8: what a defragmentation may move


@dataclass(frozen=True, slots=True)
class Breach:
    """One breach: the law, the gang (None where no single gang is at fault), what it is about.

    `subject` names a pod, node, leaf, namespace or term; `detail` says what is wrong, with
    its numbers.
    """

    law: Law
    gang: GangKey | None
    subject: str
    detail: str

    def __str__(self) -> str:
        where = ": ".join(str(part) for part in (self.gang, self.subject) if part)
        return (
            f"{self.law.value}: {where}: {self.detail}"
            if where
            else (f"{self.law.value}: {self.detail}")
        )
