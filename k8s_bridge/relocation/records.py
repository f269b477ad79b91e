"""Relocations as frozen data: which pods have to go, and which places are kept for which gang."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources

UNWANTED = "the owner of its members makes no more pods"
"""Why a relocation ends whose places no pod is to have: it has not failed."""
VICTIMS_STAY = "pods that make room for it have not gone in time"
"""Why a preemption ends whose victims cannot be made to go."""
SEAT_CLOSED = "takes no new pods"
"""What is said of the node of a place that was closed meanwhile: a person, or a pressure, did."""
SEAT_GONE = "can no longer be used"
"""The same of a node that is gone, or lost."""
UNREADY = "its gang is gone, short of members, or held back"
"""Why a reservation ends whose gang could not start if all of its places were free."""
NOT_STARTED = "its gang has not started on its places, which are free"
"""Why one ends whose gang something else than room keeps waiting."""
OVER_SHARE = "its namespace has kept more room idle than its share, where others wait"
"""Why one ends that costs other namespaces too much."""
PLACE_LATE = "pods on its place stay longer than they declared"
"""Why one ends whose place was to be free long ago: another one may be free before it."""

NONE_HAS_COME = "no pod has come for the places that were kept"
"""Why one ends whose places were free for long."""
TOO_MANY = "more members are missing than it has places for"
"""Why one ends whose gang has grown meanwhile."""
TOO_FEW = "it has places for more members than there are to be"
"""The same, where its gang has become smaller."""
OTHERS_CAME = "those who came ask for other things than those who left"
"""The same, where its gang has changed."""
UNUSED = frozenset((UNWANTED, NONE_HAS_COME, TOO_MANY, TOO_FEW, OTHERS_CAME))
"""Why one ends that its gang itself could not use, or did not."""

UNWRITTEN = "what it was planned with could not be written down"
"""Why one ends before any pod has gone that serves together with others alone."""
PART_ENDED = "a move without which it serves none was given up"
"""The same, where one of these has ended before any of its pods had gone."""


class Purpose(StrEnum):
    """What a relocation is for."""

    REPAIR = "repair"
    RESTART = "restart"
    DRAIN = "drain"
    PREEMPTION = "preemption"
    DEFRAGMENTATION = "defragmentation"
    RESERVATION = "reservation"


@dataclass(frozen=True, slots=True)
class Seat:
    """A place on `node`, kept for a member of the gang.

    `pod` is the member that leaves `source` for it, and whose replacement is to come, or, with
    `source` "", a member that waits. `rank` finds the replacement, which has another name
    where a Job makes it: the first numbers of the pod's rank.
    """

    pod: Target
    rank: tuple[int, int, int]
    source: str
    node: str
    request: Resources

    @property
    def waits(self) -> bool:
        """Whether the seat is for the pod itself."""
        return not self.source


@dataclass(frozen=True, slots=True)
class Leaver:
    """A pod that has to go from `node`. `lost`: its node is dead, and so is it."""

    pod: Target
    node: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Relocation:
    """Everything about the relocation of one gang, of which there is one at a time.

    `seats` are kept for members of `gang`. `leavers` are evicted: members of the gang that move
    or are lost, or, for a preemption, pods of others, to whose places a repair may move members
    later. `stays` are the members that keep their places (UID, node): the plan is void once that
    changes. `owner` is the UID of the controller
    of a pod that is a gang by itself: its replacement has another name, and so makes another
    gang. `starts` is when a reservation expects its seats to be free, 0 where that
    is unknown. `bandwidth` is the least that each of its nodes has, in Mbit/s, None for any.
    `format` is the one that its Lease was written in. Times in seconds since the epoch.
    """

    gang: GangKey
    purpose: Purpose
    seats: tuple[Seat, ...]
    leavers: tuple[Leaver, ...]
    stays: frozenset[tuple[str, str]] = frozenset()
    priority: int = 0
    owner: str = ""
    why: str = ""
    opened: float = 0.0
    until: float = 0.0
    starts: float = 0.0
    bandwidth: int | None = None
    epoch: int = 0
    version: str = ""
    format: int = 1

    @property
    def makes_room_to_move(self) -> bool:
        """Whether others go first, and a repair moves members to its places after that."""
        moves = any(not seat.waits for seat in self.seats)
        return moves and self.purpose is Purpose.PREEMPTION
