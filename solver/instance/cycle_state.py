"""What changes in every cycle: free resources by node, and what follows from them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from fourleaf.model.job_mix import LikelyGang, likely_gangs
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.instance.candidates import Candidate, Candidates
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_type import GangType
from fourleaf.solver.instance.joined_candidates import JoinedCandidates


@dataclass(frozen=True, slots=True)
class RoleRoom:
    """Pods of one kind that fit now, each role alone: by role and node, by role and leaf."""

    by_node: list[list[int]]
    by_leaf: list[list[int]]


class CycleState:
    """One snapshot on its ground, by index.

    Where a custom node term is in force, any two nodes may be worth different points.
    `likely` stands in place of the shapes that the snapshot itself would give.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        ground: FabricIndex,
        likely: tuple[LikelyGang, ...] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.ground = ground
        self._likely = likely
        self.spec = ground.spec
        used = snapshot.used
        self._amounts = list(ground.amounts)
        self.free_id = list(ground.empty_id)
        ids = {amount: i for i, amount in enumerate(self._amounts)}
        met: dict[int, int] = {}
        free = snapshot.free
        for i, node in enumerate(ground.nodes):
            if node.name in used:
                left = free[node.name]
                number = met.get(id(left))
                if number is None:
                    number = met[id(left)] = ids.setdefault(left, len(ids))
                    if number == len(self._amounts):
                        self._amounts.append(left)
                self.free_id[i] = number
        self.free: list[Resources] = [self._amounts[number] for number in self.free_id]
        """Node -> what is left there, the same object for equal amounts."""
        self._rooms: dict[int, RoleRoom] = {}
        self._pods: dict[tuple[int, int, bool], tuple[list[int], list[int]]] = {}
        self.merged: dict[frozenset[int], JoinedCandidates] = {}
        """By the identities of several `Candidates`: kept for units that share them."""
        self._open: dict[int, list[tuple[Candidate, int]]] = {}
        self._comforts: dict[int, list[dict[int, int]]] = {}
        self._slots: dict[int, list[int]] = {}
        self._bind: dict[tuple[int, int], bool] = {}

    def room(self, kind: GangType) -> RoleRoom:
        """How many pods of `kind` fit now."""
        room = self._rooms.get(id(kind))
        if room is None:
            each = [self._room_of(kind, role) for role in range(len(kind.sizes))]
            room = RoleRoom([by_node for by_node, _ in each], [by_leaf for _, by_leaf in each])
            self._rooms[id(kind)] = room
        return room

    def _room_of(self, kind: GangType, role: int) -> tuple[list[int], list[int]]:
        """Pods of a role that fit, by node and by leaf; kinds with equal pods share it."""
        request, one = kind.requests[role], kind.key.one_per_node
        key = (id(request), kind.mask[role], one)
        known = self._pods.get(key)
        if known is None:
            most = [fits(amount, request) for amount in self._amounts]
            nodes = [
                most[i] if hold else 0
                for i, hold in zip(self.free_id, kind.holds[role], strict=True)
            ]
            upto = list(accumulate([n > 0 for n in nodes] if one else nodes, initial=0))
            leaves = [upto[here.stop] - upto[here.start] for here in self.ground.in_leaf]
            known = self._pods[key] = (nodes, leaves)
        return known

    def open_places(self, kind: GangType, locations: Candidates) -> list[tuple[Candidate, int]]:
        """The required locations with room now, and how many gangs of the kind each holds."""
        known = self._open.get(id(locations))
        if known is None:
            room = self.room(kind).by_leaf
            required = locations.required
            if locations.of_one_leaf and len(room) == 1:
                here = room[0]
                known = [
                    (place, fit)
                    for place, (_, leaf, count) in zip(required, locations.starts, strict=True)
                    if (fit := here[leaf] // count)
                ]
            else:
                known = [
                    (place, fit)
                    for place, demands, (role, leaf, count) in zip(
                        required, locations.demands, locations.starts, strict=True
                    )
                    if room[role][leaf] >= count
                    and (fit := min([room[r][i] // n for r, i, n in demands]))
                ]
            self._open[id(locations)] = known
        return known

    def open_comforts(self, kind: GangType) -> list[dict[int, int]]:
        """Leaf -> how many nodes of each comfort have room for a pod of the first role."""
        by_node = self.room(kind).by_node[0]
        known = self._comforts.get(id(by_node))
        if known is None:
            comfort = self.comfort_id
            known = self._comforts[id(by_node)] = [{} for _ in self.ground.in_leaf]
            for leaf, i, room in zip(self.ground.leaf_of, comfort, by_node, strict=True):
                if room:
                    known[leaf][i] = known[leaf].get(i, 0) + 1
        return known

    def slots(self, size: int) -> list[int]:
        """Node -> how many requests of `size` GPUs its free GPUs hold."""
        known = self._slots.get(size)
        if known is None:
            known = self._slots[size] = [max(0, free.gpus) // size for free in self.free]
        return known

    def gpus_bind(self, request: Resources, node: int) -> bool:
        """Whether pods of `request` run out of GPUs on the node before anything else.

        True only if that holds for any mix with other such pods: every other resource
        is free in at least the proportion in which the request asks for it. `request` is
        one of a kind, which outlives the view.
        """
        key = (id(request), self.free_id[node])
        known = self._bind.get(key)
        if known is None:
            free = self.free[node]
            gpus = max(0, free.gpus)
            asked = [(request.cpu or 0, free.cpu), (request.memory or 0, free.memory)]
            asked.append((request.pods, free.pods))
            known = request.gpus > 0 and all(
                left is None or left * request.gpus >= amount * gpus for amount, left in asked
            )
            plain = not request.extra and request.wants is None
            known = self._bind[key] = known and plain
        return known

    @cached_property
    def comfort_id(self) -> list[int]:
        """Node -> a number shared by nodes that no node term tells apart."""
        ground = self.ground
        if ground.extensions.node_terms:
            return list(range(len(ground.nodes)))
        alike = list(zip(self.free_id, ground.nature, strict=True))
        ids: dict[Hashable, int] = {}
        numbers: dict[tuple[int, int], int] = {}
        for amounts, i in {amounts: i for i, amounts in enumerate(alike)}.items():
            node, free = ground.nodes[i], self.free[i]
            full = node.allocatable
            each = (free.cpu, full.cpu, free.memory, full.memory, free.pods, full.pods)
            devices = free.devices if self.snapshot.wishing else None
            numbers[amounts] = ids.setdefault((each, node.failure_permille, devices), len(ids))
        return [numbers[amounts] for amounts in alike]

    @cached_property
    def of_comfort(self) -> list[int]:
        """Comfort -> a node of it."""
        node_of = {comfort: node for node, comfort in enumerate(self.comfort_id)}
        return [node_of[comfort] for comfort in range(len(node_of))]

    @cached_property
    def amounts_of_comfort(self) -> tuple[list[tuple[Resources, Resources]], list[int]]:
        """What nodes have in all and what is free, each pair once, and comfort -> its pair."""
        free, empty = self.free_id, self.ground.empty_id
        pairs, numbers = _numbered([(empty[i], free[i]) for i in self.of_comfort])
        return [(self.ground.amounts[full], self._amounts[left]) for full, left in pairs], numbers

    @cached_property
    def leaf_gpus(self) -> list[tuple[int, int]]:
        """Leaf -> (GPUs in use, GPUs in all) over its schedulable nodes."""
        left = [free.gpus for free in self._amounts]
        full = [amount.gpus for amount in self.ground.amounts]
        ground = self.ground
        used = [
            max(0, full[empty] - left[free]) if ok else 0
            for empty, free, ok in zip(
                ground.empty_id, self.free_id, ground.schedulable, strict=True
            )
        ]
        return [
            (sum(used[nodes.start : nodes.stop]), total)
            for nodes, total in zip(ground.in_leaf, ground.gpus_in_leaf, strict=True)
        ]

    @cached_property
    def fillings(self) -> tuple[list[tuple[int, int]], list[int]]:
        """The distinct values of `leaf_gpus`, and leaf -> its own among them."""
        return _numbered(self.leaf_gpus)

    @cached_property
    def likely(self) -> tuple[LikelyGang, ...]:
        """The shapes of the job mix that are worth room."""
        return likely_gangs(self.snapshot) if self._likely is None else self._likely


def _numbered(pairs: Iterable[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[int]]:
    """The distinct pairs, and for each of all its place among them."""
    found: dict[tuple[int, int], int] = {}
    numbers = [found.setdefault(pair, len(found)) for pair in pairs]
    return list(found), numbers
