"""Greedy: one gang at a time, each at the candidate that leaves least behind.

The fallback when the solver gives nothing in time, and the baseline it is compared with.
Tree best fit: highest priority first, then greatest value, then oldest; a gang takes the
legal candidate whose leaves have the fewest GPUs free. Obeys every law; proves nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import inf
from operator import le

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.extensions import NO_EXTENSIONS, Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.batch.to_plan import to_plan
from fourleaf.solver.cpsat.constraints.quota import new_gpus, quota_left
from fourleaf.solver.cpsat.constraints.uplinks import running_demand
from fourleaf.solver.cpsat.decode import PlacedGang
from fourleaf.solver.instance.candidates import Candidate, Takes
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup, gang_groups_for
from fourleaf.solver.instance.gang_type import Counts, GangType
from fourleaf.solver.instance.time_share import (
    SHARE_OF_ONE_GANG,
    TimeShareOver,
    check_time_share,
    time_share,
)
from fourleaf.solver.objective.scorer import Scorer

NOT_REACHED = "not looked at in time"
"""The detail of a gang that greedy did not come to, or not to an end with, before its deadline."""


def greedy_plan(
    snapshot: Snapshot, extensions: Extensions = NO_EXTENSIONS, until: float = inf
) -> Plan:
    """A legal plan found without search. Gangs that wait do not carry their reasons yet.

    From `until` on (monotonic seconds) no further gang is looked at. One that takes more than its
    share of the time while others wait is looked at again after them. Those that were not looked
    at to their end wait with the detail `NOT_REACHED`. What is placed stays.
    """
    factory = gang_groups_for(snapshot, extensions)
    state = CycleState(snapshot, factory.fabric)
    scorer = Scorer(state)
    selection = select_batch(snapshot)
    books = FreeBooks(state, scorer)
    spec = snapshot.config.spec

    def rank(gang: Gang) -> tuple[int, int, float, str]:
        value = placed_value(gang, age_step(spec, snapshot.now, gang.created))
        return (-gang.priority, -value, gang.created, str(gang.key))

    placed = []
    reached = set()
    queue = deque(sorted(selection.batch, key=rank))
    again: set[GangKey] = set()
    while queue:
        gang = queue.popleft()
        now = time.monotonic()
        if now >= until:
            break
        if books.outgrown(gang):
            reached.add(gang.key)
            continue
        try:
            with time_share(now + (until - now) / (SHARE_OF_ONE_GANG if queue else 1)):
                group = factory.of(gang)
                nodes = books.find(group)
        except TimeShareOver:
            if gang.key not in again:
                again.add(gang.key)
                queue.append(gang)
            continue
        reached.add(gang.key)
        if nodes is not None:
            books.take(group, nodes)
            placed.append(PlacedGang(gang, group, nodes))
    plan = to_plan(state, scorer, selection, placed, (), (), PlanStatus.GREEDY)
    late = {gang.key for gang in selection.batch} - reached
    return replace(plan, waiting=tuple(_told(one, late) for one in plan.waiting))


def _told(waiting: Waiting, late: set[GangKey]) -> Waiting:
    if waiting.gang not in late:
        return waiting
    return replace(waiting, reason=replace(waiting.reason, detail=NOT_REACHED))


def least_free(books: FreeBooks, place: Candidate) -> tuple[int, ...]:
    """Rank candidates by the GPUs that are free in their leaves."""
    return (sum([books.leaf_free[leaf] for leaf, _ in place.takes]),)


Rank = Callable[["FreeBooks", Candidate], tuple[int, ...]]
"""What sorts the candidates, the smallest first."""

NodeRank = Callable[[int, int], int]
"""What sorts nodes by (role, node), the smallest first, before the GPUs that they have free."""


class FreeBooks:
    """What is left on every node, uplink and quota while gangs are placed one by one.

    `leaf_free` are the free GPUs of each leaf. `rank` chooses among candidates with room.
    """

    def __init__(self, state: CycleState, scorer: Scorer, rank: Rank = least_free) -> None:
        self.state = state
        self.scorer = scorer
        self._rank = rank
        self.free: list[Resources] = list(state.free)
        self.leaf_free = [sum([self.free[i].gpus for i in nodes]) for nodes in state.fabric.in_leaf]
        self._free_gpus = state.free_gpus
        self.quota = quota_left(state.snapshot)
        self.uplink: dict[int, int] = {}
        running = running_demand(state)
        for leaf, uplink in enumerate(state.fabric.uplinks):
            if uplink is not None:
                taken = sum(leaves.get(leaf, 0) for leaves in running.values())
                self.uplink[leaf] = uplink - taken
        self._running = running
        self._rooms: dict[GangType, list[list[int]]] = {}
        self._stale: dict[GangType, set[int]] = {}
        """The leaves of which the room is not what it was."""

    def outgrown(self, gang: Gang) -> bool:
        """Whether the gang asks for more GPUs than are free in all."""
        return new_gpus(gang) > self._free_gpus

    def find(self, group: GangGroup) -> list[list[int]] | None:
        """Nodes for the unbound pods of the group's gang by role, or `None`."""
        gang = group.gang
        left = self.quota.get(gang.key.namespace)
        if left is not None and new_gpus(gang) and new_gpus(gang) > left:
            return None
        return self.find_in(group, self.room(group.kind))

    def find_in(self, group: GangGroup, room: list[list[int]]) -> list[list[int]] | None:
        """The same where `room`, by role and leaf, is known, and the quota holds."""
        failed: set[int] = set()
        while (place := self._best_place(group, room, failed)) is not None:
            nodes = self.seat(group, place.takes)
            if nodes is not None:
                return nodes
            failed.add(place.number)
        return self.find_loose(group, room) if group.loose else None

    def _best_place(
        self, group: GangGroup, room: list[list[int]], failed: set[int]
    ) -> Candidate | None:
        """The candidate with room of the smallest worth, the first of several."""
        best: Candidate | None = None
        least: tuple[int, ...] = ()
        for place in group.candidates.required:
            worth = self._rank(self, place)
            if (
                (best is None or worth < least)
                and group.fit(place, room)
                and place.number not in failed
                and not (group.loose and place.spines > 1)
                and self.uplinks_hold(group, place.takes)
            ):
                best, least = place, worth
        return best

    def take(self, group: GangGroup, nodes: list[list[int]]) -> None:
        """Book what the gang of the group takes on these nodes."""
        gang = group.gang
        leaf_of = self.state.fabric.leaf_of
        counts: dict[int, list[int]] = {i: list(c) for i, c in group.bound.items()}
        touched: set[int] = set()
        for role, members in enumerate(nodes):
            for node in members:
                self.free[node] = minus(self.free[node], group.kind.requests[role])
                self.leaf_free[leaf_of[node]] -= group.kind.requests[role].gpus
                counts.setdefault(leaf_of[node], [0] * len(nodes))[role] += 1
                touched.add(leaf_of[node])
        self._free_gpus -= new_gpus(gang)
        for stale in self._stale.values():
            stale.update(touched)
        if gang.key.namespace in self.quota:
            self.quota[gang.key.namespace] -= new_gpus(gang)
        if len(counts) > 1:
            for leaf, here in counts.items():
                demand = self.demand(group, leaf, tuple(here))
                if demand:
                    self.uplink[leaf] -= demand

    def room(self, kind: GangType) -> list[list[int]]:
        """Role -> leaf -> pods that fit, each role alone."""
        leaves = len(self.state.fabric.leaves)
        known = self._rooms.setdefault(kind, [[0] * leaves for _ in kind.sizes])
        stale = self._stale.setdefault(kind, set(range(leaves)))
        while stale:
            leaf = stale.pop()
            try:
                self._refresh(kind, known, leaf)
            except TimeShareOver:
                stale.add(leaf)
                raise
        return known

    def _refresh(self, kind: GangType, room: list[list[int]], leaf: int) -> None:
        one = kind.key.one_per_node
        for role, request in enumerate(kind.requests):
            check_time_share()
            each = [fits(self.free[i], request) for i in kind.eligible[role][leaf]]
            room[role][leaf] = sum(min(1, n) for n in each) if one else sum(each)

    def demand(self, group: GangGroup, leaf: int, counts: Counts) -> int:
        """Mbit/s that a gang takes from the uplink of a leaf beyond what its bound members do."""
        own = self._running.get(group.gang.key, {}) if group.bound else {}
        return max(0, self.scorer.demand(group, leaf, counts) - own.get(leaf, 0))

    def uplinks_hold(self, group: GangGroup, takes: Takes) -> bool:
        """Whether the uplinks of its leaves carry a gang that takes so much in each."""
        if len(takes) < 2 or not group.gang.bandwidth:
            return True
        demands = ((leaf, self.demand(group, leaf, counts)) for leaf, counts in takes)
        return all(not demand or demand <= self.uplink[leaf] for leaf, demand in demands)

    def seat(
        self, group: GangGroup, takes: Takes, rank: NodeRank | None = None
    ) -> list[list[int]] | None:
        """Nodes for the new pods of a candidate, each where it leaves fewest GPUs, or `None`.

        With `rank`, each where that is least; free GPUs then decide among equals.
        """
        kind = group.kind
        nodes: list[list[int]] = [[] for _ in group.roles]
        left: dict[int, Resources] = {}
        for leaf, all_counts in takes:
            counts = group.new_pods(leaf, all_counts)
            opened = {i for i in group.bound_nodes if i in self.state.fabric.in_leaf[leaf]}
            for role, count in enumerate(counts):
                for _ in range(count):
                    node = self._best(kind, role, leaf, left, opened, rank)
                    if node is None:
                        return None
                    left[node] = minus(left.get(node, self.free[node]), kind.requests[role])
                    opened.add(node)
                    nodes[role].append(node)
        return nodes

    def _best(
        self,
        kind: GangType,
        role: int,
        leaf: int,
        left: dict[int, Resources],
        opened: set[int],
        rank: NodeRank | None,
    ) -> int | None:
        check_time_share()
        request = kind.requests[role]
        may_open = kind.max_nodes is None or len(opened) < kind.max_nodes
        best: tuple[int, int, int] | None = None
        for i in kind.eligible[role][leaf]:
            if (i in opened and kind.key.one_per_node) or not (may_open or i in opened):
                continue
            free = left.get(i, self.free[i])
            key = (0 if rank is None else rank(role, i), free.gpus, i)
            if (best is None or key < best) and fits(free, request):
                best = key
        return None if best is None else best[2]

    def find_loose(self, group: GangGroup, room: list[list[int]]) -> list[list[int]] | None:
        """Any leaves of one spine, where they are fewest; the first such spine that has room."""
        leaf_of = self.state.fabric.leaf_of
        found = [self.seat_loose(group, room, spine) for spine in group.candidates.loose_spines]
        return min(
            [nodes for nodes in found if nodes is not None],
            key=lambda nodes: len({leaf_of[node] for members in nodes for node in members}),
            default=None,
        )

    def seat_loose(
        self, group: GangGroup, room: list[list[int]], spine: int, rank: NodeRank | None = None
    ) -> list[list[int]] | None:
        """Any leaves of the spine, those with most room first, the last with as little as do."""
        kind, fabric = group.kind, self.state.fabric
        spines = {fabric.spine_of[leaf] if leaf >= 0 else -1 for leaf in group.bound}
        if spines - {spine}:
            return None
        remaining = [len(role.pods) for role in group.gang.roles]
        takes: list[tuple[int, Counts]] = []
        leaves = sorted(
            fabric.spine_leaves[spine], key=lambda i: (i not in group.bound, -room[0][i], i)
        )
        while leaves:
            check_time_share()
            leaf = leaves[0]
            # The first has most room: where it holds not all that is left, no leaf does.
            if leaf not in group.bound and remaining[0] <= room[0][leaf]:
                enough = [i for i in leaves if all(map(le, remaining, (row[i] for row in room)))]
                leaf = min(enough, key=room[0].__getitem__, default=leaf)
            leaves.remove(leaf)
            bound = group.bound.get(leaf, (0,) * len(remaining))
            most = zip(remaining, room, bound, strict=True)
            wanted = tuple(min(left, free[leaf]) + held for left, free, held in most)
            counts = kind.fill(leaf, wanted)
            if any(a < b for a, b in zip(counts, bound, strict=True)):
                break
            if any(counts):
                takes.append((leaf, counts))
                new = group.new_pods(leaf, counts)
                remaining = [a - b for a, b in zip(remaining, new, strict=True)]
            if not any(remaining) and all(i in dict(takes) for i in group.bound):
                break
        if any(remaining) or not self.uplinks_hold(group, tuple(takes)):
            return None
        return self.seat(group, tuple(takes), rank)
