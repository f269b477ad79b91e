"""How much of a gang each of its legal places could take, and which comes closest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fourleaf.model.resources import Resources
from fourleaf.solver.explain.free_room import FreeRoom, seated
from fourleaf.solver.instance.candidates import Takes
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts

MOST_TIES = 64
"""So many equally near places are compared by who stands in the way."""


@dataclass(frozen=True, slots=True)
class LeafPart:
    """Leaves of a place that are counted together, and the unbound pods they must take."""

    name: str
    leaves: tuple[int, ...]
    counts: Counts


@dataclass(frozen=True, slots=True)
class ReachedCandidate:
    """One legal place, and how many unbound pods of the gang fit there."""

    parts: tuple[LeafPart, ...]
    takes: Takes
    pods: int

    @property
    def leaves(self) -> tuple[int, ...]:
        """All leaves of the place."""
        return tuple(leaf for part in self.parts for leaf in part.leaves)


@dataclass(frozen=True, slots=True)
class Spot:
    """A legal place before it is measured: a candidate, or a whole spine to use at will."""

    takes: Takes
    spine: int | None = None


def spots_of(group: GangGroup) -> list[Spot]:
    """All legal places of a group that admit its bound members."""
    spots = []
    for place in group.candidates.required:
        if group.loose and place.spines > 1:
            continue
        if not group.admits_bound(place):
            continue
        spots.append(Spot(place.takes))
    if group.loose:
        spine_of = group.candidates.fabric.spine_of
        bound = {spine_of[leaf] if leaf >= 0 else -1 for leaf in group.bound}
        spots += [Spot((), s) for s in group.candidates.loose_spines if not bound - {s}]
    return spots


class SpotReach:
    """How far a group gets on each of its spots, given what is free.

    `amounts` stand in place of the distinct free amounts of `standing`.
    """

    def __init__(
        self, group: GangGroup, standing: FreeRoom, amounts: list[Resources] | None = None
    ) -> None:
        self.group = group
        self.standing = standing
        if amounts is None:
            self.amounts = standing.amounts[0]
            self.room = standing.room(group.kind)
        else:
            self.amounts = amounts
            self.room = standing.room_of(group.kind, amounts)
        self.new: Counts = tuple(len(role.pods) for role in group.gang.roles)
        self.needed = sum(self.new)
        self._known: dict[tuple[tuple[int, ...], Counts], int] = {}

    def pods(self, leaves: tuple[int, ...], counts: Counts) -> int:
        """How many of these unbound pods fit into these leaves."""
        if len(counts) == 1:
            row = self.room[0]
            return min(counts[0], sum([row[leaf] for leaf in leaves]))
        known = self._known.get((leaves, counts))
        if known is None:
            alone = [
                min(want, sum(row[leaf] for leaf in leaves))
                for want, row in zip(counts, self.room, strict=True)
            ]
            known = sum(alone)
            if known == sum(counts):
                fabric = self.group.candidates.fabric
                nodes = [i for leaf in leaves for i in fabric.in_leaf[leaf]]
                of_node = self.standing.amounts[1]
                free = {i: self.amounts[of_node[i]] for i in nodes}
                known = seated(self.group.kind, nodes, counts, free, self.group.bound_nodes)
            self._known[leaves, counts] = known
        return known

    def measure(self, spots: Iterable[Spot]) -> list[int]:
        """Pods that fit at each spot."""
        fabric = self.group.candidates.fabric
        simple = len(self.new) == 1 and not self.group.bound
        row = self.room[0]
        out = []
        for spot in spots:
            if spot.spine is not None:
                out.append(self.pods(fabric.spine_leaves[spot.spine], self.new))
            elif simple:
                total = 0
                for leaf, (want,) in spot.takes:
                    free = row[leaf]
                    total += want if free >= want else free
                out.append(total)
            else:
                out.append(
                    sum(
                        [
                            self.pods((leaf,), self.group.new_pods(leaf, counts))
                            for leaf, counts in spot.takes
                        ]
                    )
                )
        return out

    def reached(self, spot: Spot, pods: int) -> ReachedCandidate:
        """The spot with its parts named."""
        parts = []
        for leaves, counts in self._parts(spot):
            first = self.group.candidates.fabric.leaves[leaves[0]]
            name = first.name if spot.spine is None else first.spine
            parts.append(LeafPart(name, leaves, counts))
        return ReachedCandidate(tuple(parts), spot.takes, pods)

    def _parts(self, spot: Spot) -> list[tuple[tuple[int, ...], Counts]]:
        if spot.spine is not None:
            return [(self.group.candidates.fabric.spine_leaves[spot.spine], self.new)]
        return [((leaf,), self.group.new_pods(leaf, counts)) for leaf, counts in spot.takes]

    def nearest(
        self, spots: list[Spot], in_the_way: Callable[[int], frozenset[str]]
    ) -> ReachedCandidate | None:
        """The spot where most pods fit; of equal ones, that with the fewest in the way."""
        if not spots:
            return None
        measured = self.measure(spots)
        most = max(measured)
        ties = [spot for spot, pods in zip(spots, measured, strict=True) if pods == most]
        best: tuple[int, Spot] | None = None
        for spot in ties[:MOST_TIES]:
            blockers: set[str] = set()
            for leaves, counts in self._parts(spot):
                if self.pods(leaves, counts) < sum(counts):
                    blockers.update(*(in_the_way(leaf) for leaf in leaves))
            if best is None or len(blockers) < best[0]:
                best = (len(blockers), spot)
        return None if best is None else self.reached(best[1], most)
