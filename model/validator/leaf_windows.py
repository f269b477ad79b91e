"""Windows (section 4): which leaves are adjacent, the shortest window, and the window check."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from fourleaf.model.fabric import AdjacencyKind, Fabric
from fourleaf.model.validator.room import EmptyLeafRoom
from fourleaf.model.validator.static_keys import Counts


class Paths:
    """The adjacency of one fabric: which leaves touch, and where aligned windows may lie."""

    def __init__(self, fabric: Fabric) -> None:
        self.kind = fabric.adjacency
        self.spines = tuple(fabric.spines.values())
        self.spine_of: dict[int, int] = {}
        self.place: dict[int, int] = {}
        for number, leaves in enumerate(self.spines):
            for place, leaf in enumerate(leaves):
                self.spine_of[leaf] = number
                self.place[leaf] = place
        self.touching = self._touching(fabric)

    def _touching(self, fabric: Fabric) -> tuple[frozenset[int], ...]:
        found: list[set[int]] = [set() for _ in fabric.leaves]
        for a, b in self._edges(fabric):
            if a != b and self.spine_of[a] == self.spine_of[b]:
                found[a].add(b)
                found[b].add(a)
        return tuple(frozenset(leaves) for leaves in found)

    def _edges(self, fabric: Fabric) -> Iterator[tuple[int, int]]:
        if self.kind is AdjacencyKind.EXPLICIT:
            index = fabric.leaf_index
            for a, b in fabric.edges:
                if a in index and b in index:
                    yield index[a], index[b]
            return
        for leaves in self.spines:
            yield from pairwise(leaves)
            if self.kind is AdjacencyKind.RING:
                yield leaves[-1], leaves[0]

    def aligned(self, first: int, last: int, leaves: int) -> bool:
        """Whether a window of `leaves` between two places of a spine crosses no boundary.

        Boundaries are the multiples of the smallest power of two that is at least `leaves`;
        they exist for `aligned` alone.
        """
        if self.kind is not AdjacencyKind.ALIGNED:
            return True
        block = 1 << (leaves - 1).bit_length()
        return first // block == last // block

    def shortest(self, room: EmptyLeafRoom, spine: int, remaining: Counts) -> int | None:
        """Leaves of the shortest window in a spine that holds `remaining`; None without one."""
        if self.kind is AdjacencyKind.EXPLICIT:
            return self._shortest_path(room, self.spines[spine], remaining)
        leaves = self.spines[spine]
        best: int | None = None
        for line in (leaves, leaves[::-1]):
            lengths = (
                self._single_lengths(room, line, remaining)
                if room.single
                else self._walked_lengths(room, line, remaining)
            )
            for start, length in lengths:
                last = line[(start + length - 1) % len(line)]
                fits = self.aligned(self.place[line[start]], self.place[last], length)
                if fits and (best is None or length < best):
                    best = length
        return best

    def _laid_out(self, line: Sequence[int]) -> Sequence[int]:
        return (*line, *line[:-1]) if self.kind is AdjacencyKind.RING else line

    def _single_lengths(
        self, room: EmptyLeafRoom, line: Sequence[int], remaining: Counts
    ) -> Iterator[tuple[int, int]]:
        """(start, length) of every window along `line`, by prefix sums."""
        holds = [room.fill(leaf, remaining).taken[0] for leaf in self._laid_out(line)]
        sums = list(accumulate(holds, initial=0))
        empty = list(accumulate((h == 0 for h in holds), initial=0))
        for start in range(len(line)):
            end = bisect_left(sums, sums[start] + remaining[0], start)
            length = end - start
            if end < len(sums) and length <= len(line) and empty[end] == empty[start]:
                yield start, length

    def _walked_lengths(
        self, room: EmptyLeafRoom, line: Sequence[int], remaining: Counts
    ) -> Iterator[tuple[int, int]]:
        """(start, length) of every window along `line`, leaf by leaf."""
        laid = self._laid_out(line)
        for start in range(len(line)):
            left = remaining
            for length in range(1, min(len(line), len(laid) - start) + 1):
                taken = room.fill(laid[start + length - 1], left).taken
                if not any(taken):
                    break
                left = less(left, taken)
                if not any(left):
                    yield start, length
                    break

    def _shortest_path(
        self, room: EmptyLeafRoom, leaves: Sequence[int], remaining: Counts
    ) -> int | None:
        """Find the shortest simple path over explicit edges, by deepening."""
        most = [
            sorted((room.fill(leaf, _only(remaining, r)).taken[r] for leaf in leaves), reverse=True)
            for r in range(len(remaining))
        ]
        reach = [list(accumulate(column, initial=0)) for column in most]
        # Leaves that hold most come first: they are likeliest to lie on a short path.
        order = sorted(leaves, key=lambda leaf: -sum(room.fill(leaf, remaining).taken))
        rank = {leaf: i for i, leaf in enumerate(order)}

        def path(leaf: int, left: Counts, seen: frozenset[int], more: int) -> bool:
            taken = room.fill(leaf, left).taken
            if not any(taken):
                return False
            left = less(left, taken)
            if not any(left):
                return True
            if any(need > column[more] for need, column in zip(left, reach, strict=True)):
                return False
            return any(
                path(other, left, seen | {other}, more - 1)
                for other in sorted(self.touching[leaf] - seen, key=rank.__getitem__)
            )

        for length in range(1, len(leaves) + 1):
            if any(need > column[length] for need, column in zip(remaining, reach, strict=True)):
                continue
            if any(path(leaf, remaining, frozenset({leaf}), length - 1) for leaf in order):
                return length
        return None

    def is_window(
        self, room: EmptyLeafRoom, numbers: Mapping[int, Counts], remaining: Counts
    ) -> bool:
        """Whether some order of the used leaves is a window that fills them with `numbers`.

        `numbers` are pods per role by leaf, each at least one pod, together `remaining`.
        """
        places = [self.place[leaf] for leaf in numbers]
        if len({self.spine_of[leaf] for leaf in numbers}) != 1 or not self.aligned(
            min(places), max(places), len(numbers)
        ):
            return False
        # What is left depends on the set of leaves behind, not on their order.
        dead: set[tuple[frozenset[int], int]] = set()

        def path(leaf: int, left: Counts, ahead: frozenset[int]) -> bool:
            if (ahead, leaf) in dead or room.fill(leaf, left).taken != numbers[leaf]:
                return False
            left = less(left, numbers[leaf])
            if not ahead and not any(left):
                return True
            if any(path(other, left, ahead - {other}) for other in self.touching[leaf] & ahead):
                return True
            dead.add((ahead, leaf))
            return False

        every = frozenset(numbers)
        return any(path(leaf, remaining, every - {leaf}) for leaf in numbers)


def less(counts: Counts, taken: Counts) -> Counts:
    """Subtract `taken` from `counts`, role by role."""
    return tuple(a - b for a, b in zip(counts, taken, strict=True))


def _only(counts: Counts, role: int) -> Counts:
    return tuple(n if r == role else 0 for r, n in enumerate(counts))
