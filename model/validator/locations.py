"""The leaf rule (section 4) for one kind of gang: k, the fewest F, and the legality check."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from fourleaf.model.gang import MOST_SPLITS, splits
from fourleaf.model.validator.leaf_windows import Paths, less
from fourleaf.model.validator.room import EmptyLeafRoom
from fourleaf.model.validator.static_keys import Counts, PlacementKey


class LegalLocations:
    """Where gangs of one kind may stand on the empty fabric. Everything is computed once.

    `anew` are the locations of such gangs of which no member runs, where that makes a difference.
    """

    def __init__(
        self,
        paths: Paths,
        room: EmptyLeafRoom,
        kind: PlacementKey,
        anew: LegalLocations | None = None,
    ) -> None:
        self.paths = paths
        self.room = room
        self.kind = kind
        self.anew = anew
        self._rests: dict[Counts, tuple[int | None, ...]] = {}

    def _shortest(self, remaining: Counts) -> tuple[int | None, ...]:
        """Find the shortest window of every spine for `remaining`."""
        found = self._rests.get(remaining)
        if found is None:
            found = self._rests[remaining] = tuple(
                self.paths.shortest(self.room, spine, remaining)
                for spine in range(len(self.paths.spines))
            )
        return found

    def _least(self, remaining: Counts) -> int | None:
        return min((n for n in self._shortest(remaining) if n is not None), default=None)

    @cached_property
    def k(self) -> int | None:
        """Leaves of the shortest window of the fabric; None where no window holds the gang."""
        return self._least(self.kind.sizes)

    @cached_property
    def limit(self) -> int:
        """The most leaves that a window of the gang may have; 0 where no window holds it."""
        if self.k is None:
            return 0
        exceptions = dict(self.kind.exceptions)
        leaves = self.k
        if exceptions:
            leaves = exceptions.get(self.room.node_count(self.kind.sizes), self.k)
        return leaves + self.kind.slack

    @cached_property
    def any_leaves(self) -> bool:
        """Whether the gang may use any leaves of a spine: it is `Preferred`, or so large."""
        kind = self.kind
        if kind.preferred or sum(kind.sizes) <= max(1, kind.window_nodes):
            return kind.preferred
        nodes = self.room.node_count(kind.sizes)
        return nodes > kind.window_nodes and nodes not in dict(kind.exceptions)

    @cached_property
    def whole_spines(self) -> tuple[int, int] | None:
        """(spines, leaves) of the smallest location of whole spines and a rest.

        None where a window holds the gang, or where nothing does.
        """
        if self.k is not None:
            return None
        total = len(self.paths.spines)
        for length in range(2, total + 1):
            leaves = [
                found
                for step in (1, -1)
                for start in range(total)
                if 0 <= start + step * (length - 1) < total
                and (found := self._spine_path(start, step, length)) is not None
            ]
            if leaves:
                return length, min(leaves)
        return None

    def _spine_path(self, start: int, step: int, length: int) -> int | None:
        """Count the fewest leaves along this path of spines; None where it is no location."""
        left, used = self.kind.sizes, 0
        for number in range(length - 1):
            before = left
            for leaf in self.paths.spines[start + step * number]:
                taken = self.room.fill(leaf, left).taken
                used += any(taken)
                left = less(left, taken)
            if left == before or not any(left):
                return None
        least = self._least(left)
        window = self._shortest(left)[start + step * (length - 1)]
        if least is None or window is None or window > least + self.kind.slack:
            return None
        return used + window

    @cached_property
    def in_one_spine(self) -> bool:
        """Whether some spine could hold the gang in any leaves, as `Preferred` has it."""
        return any(self._spine_holds(leaves) for leaves in self.paths.spines)

    def _spine_holds(self, leaves: tuple[int, ...]) -> bool:
        left = self.kind.sizes
        for leaf in leaves:
            left = less(left, self.room.fill(leaf, left).taken)
        if not any(left):
            return True
        if self.room.single or splits(self.kind.sizes) > MOST_SPLITS:
            return False
        # Filling greedily is not the only way to split several roles over leaves.
        open_counts = {self.kind.sizes}
        for leaf in leaves:
            options: dict[Counts, bool] = {}
            following = set(open_counts)
            for rest in open_counts:
                for part in _below(rest):
                    if part not in options:
                        options[part] = self.room.fill(leaf, part).taken == part
                    if options[part]:
                        following.add(less(rest, part))
            open_counts = following
        return (0,) * len(self.kind.sizes) in open_counts

    @cached_property
    def fewest(self) -> int:
        """F of section 4: the least leaves plus spines; 0 or 1 where nothing says so."""
        spans = [leaves + spines for leaves, spines in self._spans]
        return min(spans, default=int(self.any_leaves))

    @cached_property
    def fewest_leaves(self) -> int:
        """The fewest leaves of any legal location on the empty fabric; 0 without one."""
        return min((leaves for leaves, _ in self._spans), default=0)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """(leaves, spines) of the smallest locations of each sort that the gang may use."""
        spans = [] if self.k is None else [(self.k, 1)]
        if self.whole_spines is not None:
            spans.append(self.whole_spines[::-1])
        if self.any_leaves:
            holding = filter(self._spine_holds, self.paths.spines)
            spans += [(leaves, 1) for leaves in map(self._scattered, holding) if leaves]
        return spans if self.anew is None else spans + self.anew._spans

    def _scattered(self, leaves: tuple[int, ...]) -> int | None:
        """How many leaves of a spine `fill` needs, those that hold most of the gang first."""
        sizes = self.kind.sizes
        gpus = [request.gpus for request in self.room.requests]
        weights = gpus if any(g * n for g, n in zip(gpus, sizes, strict=True)) else [1] * len(gpus)

        def held(leaf: int) -> int:
            taken = self.room.fill(leaf, sizes).taken
            return sum(n * w for n, w in zip(taken, weights, strict=True))

        left, used = sizes, 0
        for leaf in sorted(leaves, key=lambda leaf: -held(leaf)):
            taken = self.room.fill(leaf, left).taken
            used += any(taken)
            left = less(left, taken)
            if not any(left):
                return used
        return None

    def fault(self, numbers: Mapping[int, Counts]) -> str | None:
        """Why pods per role and leaf `numbers` (bound included) are no legal location, or None.

        Leaves without a pod must be left out, and the numbers must sum to the sizes.
        """
        found = self._fault(numbers)
        if found is None or self.anew is None or (self.any_leaves and self.in_one_spine):
            return found
        return None if self.anew.fault(numbers) is None else found

    def _fault(self, numbers: Mapping[int, Counts]) -> str | None:
        spines = {self.paths.spine_of[leaf] for leaf in numbers}
        if self.any_leaves and self.in_one_spine:
            if len(spines) > 1:
                return f"stands in {len(spines)} spines, but one spine could hold it"
            if any(self.room.fill(leaf, part).taken != part for leaf, part in numbers.items()):
                return "a leaf could not hold its part even when empty"
            return None
        if self.k is not None:
            if len(numbers) > self.limit:
                return f"takes {len(numbers)} leaves where at most {self.limit} are allowed"
            if not self.paths.is_window(self.room, numbers, self.kind.sizes):
                return "no order of its leaves is a window of complete leaves and a rest"
            return None
        if self.whole_spines is None:
            return "larger than any legal location of the empty fabric"
        return self._spines_fault(numbers, sorted(spines))

    def _spines_fault(self, numbers: Mapping[int, Counts], spines: list[int]) -> str | None:
        fewest = self.whole_spines[0] if self.whole_spines else 0
        if len(spines) != fewest:
            return f"takes {len(spines)} spines where {fewest} are the fewest"
        if spines[-1] - spines[0] != len(spines) - 1:
            return "its spines are not consecutive"
        if any(self._fills_spines(numbers, path) for path in (spines, spines[::-1])):
            return None
        return "not whole spines and a window for the rest"

    def _fills_spines(self, numbers: Mapping[int, Counts], path: list[int]) -> bool:
        left = self.kind.sizes
        no_pods = (0,) * len(left)
        for spine in path[:-1]:
            for leaf in self.paths.spines[spine]:
                taken = self.room.fill(leaf, left).taken
                if taken != numbers.get(leaf, no_pods):
                    return False
                left = less(left, taken)
        rest = {
            leaf: part for leaf, part in numbers.items() if self.paths.spine_of[leaf] == path[-1]
        }
        least = self._least(left)
        return (
            least is not None
            and len(rest) <= least + self.kind.slack
            and self.paths.is_window(self.room, rest, left)
        )


def _below(counts: Counts) -> list[Counts]:
    """Every count vector from zero up to `counts`."""
    found: list[Counts] = [()]
    for n in counts:
        found = [(*head, i) for head in found for i in range(n + 1)]
    return found
