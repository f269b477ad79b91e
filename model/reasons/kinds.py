"""Why a gang waits, as data: the kinds of reasons, their counts, and the nearest miss."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ReasonKind(StrEnum):
    """Why a gang was not placed."""

    GATED = "Gated"
    MEMBERS_MISSING = "MembersMissing"
    WAITS_FOR_GANG = "WaitsForGang"
    UNSUPPORTED = "Unsupported"
    INVALID = "Invalid"
    NOT_TOLD = "NotTold"
    NOT_IN_BATCH = "NotInBatch"
    NAMESPACE_LIMIT = "NamespaceLimit"
    QUOTA_EXCEEDED = "QuotaExceeded"
    NO_MATCHING_NODES = "NoMatchingNodes"
    TOO_LARGE = "TooLarge"
    BOUND_ELSEWHERE = "BoundElsewhere"
    REFUSED = "Refused"
    VOLUMES_AWAITED = "VolumesAwaited"
    PLACES_KEPT = "PlacesKept"
    UNANSWERED = "Unanswered"
    RECORD_UNREADABLE = "RecordUnreadable"
    NO_FREE_CAPACITY = "NoFreeCapacity"
    NO_ADJACENT_LEAVES = "NoAdjacentLeaves"
    UPLINK_FULL = "UplinkFull"
    OUTRANKED = "Outranked"
    EVICTIONS_FORBIDDEN = "EvictionsForbidden"
    NOT_PROVEN = "NotProven"


OF_ROOM = frozenset(
    {
        ReasonKind.NO_FREE_CAPACITY,
        ReasonKind.NO_ADJACENT_LEAVES,
        ReasonKind.UPLINK_FULL,
        ReasonKind.OUTRANKED,
    }
)
"""Reasons that the end of others could end."""

OF_BINDING = frozenset({ReasonKind.VOLUMES_AWAITED, ReasonKind.REFUSED, ReasonKind.UNANSWERED})
"""Reasons that come up when a gang is bound: a plan made of what is observed knows none of them."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason with its counts.

    `counts` are named numbers (nodes needed, free, refused by a law). `near` is the
    nearest miss, leaf by leaf. `unblock` are steps that would let the gang start.
    """

    kind: ReasonKind
    detail: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    near: tuple[NearMiss, ...] = ()
    unblock: tuple[str, ...] = ()

    def count(self, name: str) -> int:
        """The count `name`, 0 where absent."""
        return dict(self.counts).get(name, 0)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """One leaf of the location that comes closest: what is free there and who holds the rest.

    `holders` are (node, gang or lone pod that runs or is placed there) and may be cut short. Where
    a gang may use any leaves of a spine, the spine stands in place of the leaf.
    """

    leaf: str
    free: int
    needed: int
    unit: str = "nodes"
    holders: tuple[tuple[str, str], ...] = ()
