"""The legal places of a kind of gang: windows, whole spines with a rest, loose spines.

docs/model.md, section 4. Everything here speaks of the empty fabric.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod

from fourleaf.model.fabric import AdjacencyKind
from fourleaf.model.gang import MOST_SPLITS, TopologyPolicy, splits
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_type import Counts, GangType
from fourleaf.solver.instance.time_share import check_time_share

MOST_TAKES = 2_000
"""Numbers of pods per role of which one leaf may choose; a variable for each."""

Takes = tuple[tuple[int, Counts], ...]
"""(leaf, pods per role) in rank order."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A legal place: what each leaf takes, and over how many spines.

    `number` is the same for candidates of a fabric that take the same, whichever end they
    start from.
    """

    takes: Takes
    number: int
    spines: int = 1
    span: int = field(init=False)
    """Leaves and spines that it spans."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "span", len(self.takes) + self.spines)

    @property
    def leaves(self) -> int:
        """How many leaves it spans."""
        return len(self.takes)


class Candidates:
    """All legal places of one kind under one topology policy.

    `anew` are those of such gangs of which no member runs, where that makes a difference.
    """

    def __init__(
        self,
        fabric: FabricIndex,
        kind: GangType,
        policy: TopologyPolicy,
        anew: Candidates | None = None,
    ) -> None:
        self.fabric = fabric
        self.kind = kind
        self.anew = anew
        loose = policy is TopologyPolicy.PREFERRED or kind.beyond_windows
        self.loose_spines = self._loose_spines() if loose else ()

    @cached_property
    def required(self) -> tuple[Candidate, ...]:
        """Windows that hold the gang, else whole spines and a rest."""
        if self.anew is None:
            return self._own
        known = {place.number for place in self._own}
        return (*self._own, *(one for one in self.anew.required if one.number not in known))

    @cached_property
    def _own(self) -> tuple[Candidate, ...]:
        sizes = self.kind.sizes
        most = self.kind.allowed_leaves
        found = tuple(Candidate(takes, self._number(takes)) for takes in self._windows(sizes, most))
        if found or (most is not None and self._windows(sizes, None)):
            return found
        return self._whole_spines()

    @cached_property
    def of_one_leaf(self) -> bool:
        """Whether each of `required` is a single leaf."""
        return all(place.leaves == 1 for place in self.required)

    @cached_property
    def demands(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """For each of `required`, its (role, leaf, pods)."""
        return tuple(
            tuple(
                (role, leaf, count)
                for leaf, counts in place.takes
                for role, count in enumerate(counts)
                if count
            )
            for place in self.required
        )

    @cached_property
    def starts(self) -> tuple[tuple[int, int, int], ...]:
        """For each of `required`, the first of its `demands`."""
        return tuple(demands[0] for demands in self.demands)

    @cached_property
    def at_leaf(self) -> dict[int, list[tuple[Candidate, Counts]]]:
        """Leaf -> the places of `required` that take pods there, and how many."""
        out: dict[int, list[tuple[Candidate, Counts]]] = {}
        for place in self.required:
            for leaf, counts in place.takes:
                out.setdefault(leaf, []).append((place, counts))
        return out

    def _number(self, takes: Takes) -> int:
        return self.fabric.place_number(takes if len(takes) == 1 else tuple(sorted(takes)))

    @cached_property
    def many_splits(self) -> bool:
        """Whether there are more ways to split the gang than a leaf has variables for."""
        if 2 ** len(self.kind.sizes) > MOST_TAKES:
            return True
        leaves = range(len(self.fabric.leaves))
        return any(prod(n + 1 for n in self._most(leaf)) > MOST_TAKES for leaf in leaves)

    def _most(self, leaf: int) -> list[int]:
        """Of each role alone, the pods that a leaf holds when empty."""
        kind, roles = self.kind, range(len(self.kind.sizes))
        return [
            kind.fill(leaf, tuple(size if r == role else 0 for r in roles))[role]
            for role, size in enumerate(kind.sizes)
        ]

    @cached_property
    def fewest(self) -> int:
        """F: the least leaves plus spines that the gang stands on where the fabric is empty."""
        return min(self._spans + ([] if self.anew is None else self.anew._spans), default=1)

    @cached_property
    def _spans(self) -> list[int]:
        spans = [place.span for place in self._own]
        if not spans and self.kind.allowed_leaves is not None:
            # A rule may allow none of the windows that there are; a Preferred gang keeps no rule.
            spans = [1 + len(takes) for takes in self._windows(self.kind.sizes, None)]
        needed = [self._leaves_needed(spine) for spine in self.loose_spines]
        return spans + [1 + leaves for leaves in needed if leaves]

    def loose_takes(self, leaf: int) -> tuple[Counts, ...]:
        """Every number of pods per role that one leaf could hold when empty, nothing excluded.

        Not to be asked where there are `many_splits`.
        """
        return tuple(
            counts
            for counts in product(*(range(n + 1) for n in self._most(leaf)))
            if any(counts) and self.kind.fill(leaf, counts) == counts
        )

    def _windows(self, sizes: Counts, most: int | None) -> list[Takes]:
        """All windows for `sizes` of at most `most` leaves (default: the fewest) plus slack."""
        slack = self.fabric.spec.topology.window_slack
        if most is not None:
            return self._search(sizes, most + slack)
        if self.fabric.branches:
            longest = max((len(leaves) for leaves in self.fabric.spine_leaves), default=0)
            for length in range(1, longest + 1):
                if self._search(sizes, length, first=True):
                    return self._search(sizes, length + slack)
            return []
        found = self._search(sizes, None)
        limit = min((len(takes) for takes in found), default=0) + slack
        return [takes for takes in found if len(takes) <= limit]

    def _search(self, sizes: Counts, limit: int | None, first: bool = False) -> list[Takes]:
        if limit is None and len(sizes) == 1 and max(self.kind.capacity, default=0) >= sizes[0]:
            if not self.fabric.spec.topology.window_slack:
                return [((i, sizes),) for i, n in enumerate(self.kind.capacity) if n >= sizes[0]]
            limit = 1 + self.fabric.spec.topology.window_slack
        found: dict[Takes, Takes] = {}
        for start in range(len(self.fabric.leaves)):
            self._extend(start, sizes, (), limit, found)
            if first and found:
                break
        return list(found.values())

    def _extend(
        self,
        leaf: int,
        remaining: Counts,
        path: Takes,
        limit: int | None,
        found: dict[Takes, Takes],
    ) -> None:
        check_time_share()
        taken = self.kind.fill(leaf, remaining)
        if not any(taken):
            return
        path = (*path, (leaf, taken))
        if taken == remaining:
            if self._aligned(path):
                found.setdefault(tuple(sorted(path)), path)
            return
        if limit is not None and len(path) >= limit:
            return
        rest = tuple(a - b for a, b in zip(remaining, taken, strict=True))
        visited = {step for step, _ in path}
        for near in self.fabric.adjacent[leaf]:
            if near not in visited:
                self._extend(near, rest, path, limit, found)

    def _aligned(self, path: Takes) -> bool:
        if self.fabric.source.adjacency is not AdjacencyKind.ALIGNED:
            return True
        block = 1 << (len(path) - 1).bit_length()
        return len({self.fabric.place_in_spine[leaf] // block for leaf, _ in path}) == 1

    def _whole_spines(self) -> tuple[Candidate, ...]:
        """Paths of consecutive spines, complete but the last; only the fewest spines."""
        count = len(self.fabric.spine_leaves)
        rests: dict[Counts, list[Takes]] = {}
        best: dict[Takes, Candidate] = {}
        fewest = count + 1
        nothing: Takes = ()
        for start in range(count):
            for step in (1, -1):
                spine, remaining, path, length = start, self.kind.sizes, nothing, 1
                while 0 <= spine < count and length <= fewest:
                    if remaining not in rests:
                        rests[remaining] = self._windows(remaining, None)
                    ends = [
                        takes
                        for takes in rests[remaining]
                        if self.fabric.spine_of[takes[0][0]] == spine
                    ]
                    if ends:
                        if length < fewest:
                            best, fewest = {}, length
                        for takes in ends:
                            whole: Takes = (*path, *takes)
                            key = tuple(sorted(whole))
                            best.setdefault(key, Candidate(whole, self._number(whole), length))
                    taken, remaining = self._fill_spine(spine, remaining)
                    if not taken or not any(remaining):
                        break
                    path = (*path, *taken)
                    spine, length = spine + step, length + 1
        return tuple(best.values())

    def _fill_spine(self, spine: int, remaining: Counts) -> tuple[Takes, Counts]:
        takes = []
        for leaf in self.fabric.spine_leaves[spine]:
            taken = self.kind.fill(leaf, remaining)
            if any(taken):
                takes.append((leaf, taken))
                remaining = tuple(a - b for a, b in zip(remaining, taken, strict=True))
        return tuple(takes), remaining

    def _loose_spines(self) -> tuple[int, ...]:
        sizes = self.kind.sizes
        # The validator has the same rule for whether all splits are looked at.
        by_splits = len(sizes) > 1 and splits(sizes) <= MOST_SPLITS
        return tuple(
            spine
            for spine, leaves in enumerate(self.fabric.spine_leaves)
            if not any(self._fill_spine(spine, sizes)[1])
            or (by_splits and self._some_split_holds(leaves))
        )

    def _some_split_holds(self, leaves: tuple[int, ...]) -> bool:
        """Whether some numbers per role and leaf hold the gang where filling in order does not."""
        reached = {self.kind.sizes}
        for leaf in leaves:
            takes = self.loose_takes(leaf)
            reached |= {
                tuple(left - n for left, n in zip(state, counts, strict=True))
                for state in reached
                for counts in takes
                if all(left >= n for left, n in zip(state, counts, strict=True))
            }
        return tuple(0 for _ in self.kind.sizes) in reached

    def _leaves_needed(self, spine: int) -> int | None:
        """Leaves that hold the gang, those that hold most first; `None` if that way none do."""
        kind = self.kind
        weights = [request.gpus for request in kind.requests]
        if not any(weights):
            weights = [1] * len(weights)

        def most(leaf: int) -> int:
            return sum(n * w for n, w in zip(kind.fill(leaf, kind.sizes), weights, strict=True))

        remaining, leaves = kind.sizes, 0
        for leaf in sorted(self.fabric.spine_leaves[spine], key=lambda leaf: (-most(leaf), leaf)):
            if not any(remaining):
                break
            taken = kind.fill(leaf, remaining)
            remaining = tuple(a - b for a, b in zip(remaining, taken, strict=True))
            leaves += any(taken)
        return None if any(remaining) else leaves
