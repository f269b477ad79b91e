"""Whether a gang could stand, alone, at a place of which some leaf has got more room. No OR-tools.

Where the room of some leaves alone has grown, a place that is new to a gang has a member in one of
them. So few places are walked, and only what the solves before have worked out is asked.
"""

from __future__ import annotations

from collections.abc import Collection

from fourleaf.model.gang import Gang
from fourleaf.model.resources import fits
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.instance.candidates import Candidates
from fourleaf.solver.instance.gang_classes import latest_gang_groups
from fourleaf.solver.instance.gang_type import Counts, GangType


class FreedLeaves:
    """The leaves of the fabric, by number, in which there is more room than there was."""

    def __init__(self, snapshot: Snapshot, leaves: Collection[int]) -> None:
        self._groups = latest_gang_groups(snapshot)
        self._snapshot = snapshot
        self._leaves = leaves
        self._rooms: dict[tuple[GangType, int], Counts] = {}

    def most(self, gang: Gang) -> int | None:
        """How many gangs like this one have a place there, alone and each role by itself, at most.

        None where that is not known. Uplinks are not looked at.
        """
        known = self._groups.known(gang) if self._groups is not None else None
        if known is None or any(role.bound for role in gang.roles):
            return None
        return self._places(*known)

    def _places(self, kind: GangType, candidates: Candidates) -> int:
        fabric, most = candidates.fabric, 0
        spines = {fabric.spine_of[leaf] for leaf in self._leaves}
        for spine in spines.intersection(candidates.loose_spines):
            rooms = [self._room(kind, leaf) for leaf in fabric.spine_leaves[spine]]
            most += _times(tuple(map(sum, zip(*rooms, strict=True))), kind.sizes)
        for freed in self._leaves:
            for place, _ in candidates.at_leaf.get(freed, ()):
                most += min(_times(self._room(kind, leaf), counts) for leaf, counts in place.takes)
        return most

    def _room(self, kind: GangType, leaf: int) -> Counts:
        """Pods of each role that the leaf holds now, each role alone."""
        known = self._rooms.get((kind, leaf))
        if known is None:
            nodes_of, free_on = kind.fabric.nodes, self._snapshot.free_on
            most = 1 if kind.key.one_per_node else None
            known = self._rooms[kind, leaf] = tuple(
                sum(
                    min(room, most or room)
                    for i in nodes[leaf]
                    if (room := fits(free_on(nodes_of[i].name), request))
                )
                for nodes, request in zip(kind.eligible, kind.requests, strict=True)
            )
        return known


def _times(room: Counts, counts: Counts) -> int:
    """How often `counts` are in `room`."""
    return min(left // count for left, count in zip(room, counts, strict=True) if count)
