"""What is free at one moment, asked for many kinds of gang."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property

from fourleaf.model.resources import Resources, fits, minus
from fourleaf.solver.batch.greedy import FreeBooks
from fourleaf.solver.instance.candidates import Candidate, Takes
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts, GangType
from fourleaf.solver.objective.scorer import Scorer

NO_LIMIT = 1 << 60

Seats = list[list[int]]
"""By role, the node of each pod."""


class FreeRoom:
    """What is free, read only once the first question is asked.

    Quota is left out: it is looked at before anything else. Nodes that are equally free
    are counted once per kind, so that asking costs little.
    """

    def __init__(
        self, state: CycleState, scorer: Scorer, free: list[Resources] | None = None
    ) -> None:
        self._books = FreeBooks(state, scorer)
        self._books.quota = {}
        if free is not None:
            self._books.free = free
        self._rooms: dict[GangType, list[list[int]]] = {}

    @property
    def free(self) -> list[Resources]:
        """Node -> what is left there."""
        return self._books.free

    def without_uplinks(self) -> FreeRoom:
        """The same nodes under uplinks without limits."""
        other = FreeRoom(self._books.state, self._books.scorer, self.free)
        other._books.uplink = dict.fromkeys(self._books.uplink, NO_LIMIT)
        return other

    def book(self, group: GangGroup, nodes: list[list[int]]) -> None:
        """Take what the gang of the group takes on these nodes."""
        self._books.take(group, nodes)

    def finds(self, group: GangGroup) -> bool:
        """Whether a gang of the group finds a place."""
        return self._books.find_in(group, self.room(group.kind)) is not None

    @cached_property
    def amounts(self) -> tuple[list[Resources], list[int]]:
        """The distinct free amounts, and for each node which of them it has."""
        state = self._books.state
        of_node = list(state.free_id)
        amounts: list[Resources] = []
        numbers: dict[int, int] = {}
        for i, number in enumerate(of_node):
            if number not in numbers:
                numbers[number] = len(amounts)
                amounts.append(state.free[i])
            of_node[i] = numbers[number]
        known = {amount: number for number, amount in enumerate(amounts)}
        for i, (amount, before) in enumerate(zip(self.free, state.free, strict=True)):
            # Only what the plan has touched is looked up: hashing every amount costs more.
            if amount is not before:
                of_node[i] = known.setdefault(amount, len(known))
        return list(known), of_node

    def room(self, kind: GangType) -> list[list[int]]:
        """Role -> leaf -> pods that fit, each role alone."""
        known = self._rooms.get(kind)
        if known is None:
            known = self._rooms[kind] = self.room_of(kind, self.amounts[0])
        return known

    def room_of(self, kind: GangType, amounts: Sequence[Resources]) -> list[list[int]]:
        """The room if the distinct amounts were `amounts`."""
        of_node = self.amounts[1]
        one = kind.key.one_per_node
        room = []
        for role, request in enumerate(kind.requests):
            most = [fits(amount, request) for amount in amounts]
            if one:
                most = [min(1, count) for count in most]
            room.append([sum([most[of_node[i]] for i in here]) for here in kind.eligible[role]])
        return room

    def finds_loose(self, group: GangGroup) -> bool:
        """Whether a gang that may use any leaves of a spine fits into one."""
        return self._books.find_loose(group, self.room(group.kind)) is not None

    def seats(
        self, group: GangGroup, without: list[list[int]], last: Container[int], most: int
    ) -> Iterator[Seats]:
        """Seats of a gang at its places, at `most` of one kind of place; nodes `last` come last.

        First the places with most room by `without`, by role and leaf.
        """
        books, room = self._books, self.room(group.kind)

        def rank(_: int, node: int) -> int:
            return node in last

        def reached(place: Candidate) -> int:
            return sum(
                min(row[leaf], n)
                for leaf, counts in place.takes
                for row, n in zip(without, group.new_pods(leaf, counts), strict=True)
            )

        places = [one for one in group.candidates.required if group.fit(one, room)]
        places = [one for one in places if not (group.loose and one.spines > 1)]
        for place in sorted(places, key=reached, reverse=True)[:most]:
            if books.uplinks_hold(group, place.takes):
                seats = books.seat(group, place.takes, rank)
                if seats is not None:
                    yield seats
        for spine in group.candidates.loose_spines[:most] if group.loose else ():
            seats = books.seat_loose(group, room, spine, rank)
            if seats is not None:
                yield seats

    def short_uplinks(self, group: GangGroup, takes: Takes) -> list[tuple[int, int, int]]:
        """Leaves of a candidate whose uplink has too little: (leaf, Mbit/s left, Mbit/s asked)."""
        if len(takes) < 2:
            return []
        asked = [(leaf, self._books.demand(group, leaf, counts)) for leaf, counts in takes]
        return [(i, self._books.uplink[i], demand) for i, demand in asked if demand > self.left(i)]

    def left(self, leaf: int) -> int:
        """Mbit/s left on the uplink of a leaf."""
        return self._books.uplink.get(leaf, NO_LIMIT)


def seated(
    kind: GangType,
    nodes: Iterable[int],
    counts: Counts,
    free: dict[int, Resources],
    opened: frozenset[int] = frozenset(),
) -> int:
    """How many of these pods fit into `nodes` together, fullest nodes first.

    The caps on one gang in one leaf are left out; `opened` nodes hold members already.
    """
    one = kind.key.one_per_node
    if len(counts) == 1:
        request, holds = kind.requests[0], kind.holds[0]
        each = [fits(free[i], request) for i in nodes if holds[i] and not (one and i in opened)]
        return min(counts[0], sum(min(1, n) for n in each) if one else sum(each))
    members = list(nodes)
    left = {i: free[i] for i in members}
    taken = set(opened)
    total = 0
    for role, wanted in enumerate(counts):
        request, want = kind.requests[role], wanted
        for i in sorted(members, key=lambda i: (left[i].gpus, i)):
            if not want:
                break
            if not kind.holds[role][i] or (one and i in taken):
                continue
            count = min(want, fits(left[i], request), 1 if one else want)
            if count:
                taken.add(i)
                want -= count
                total += count
                for _ in range(count):
                    left[i] = minus(left[i], request)
    return total
