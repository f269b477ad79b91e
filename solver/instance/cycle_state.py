"""What changes in every cycle: free resources by node, and what follows from them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from fourleaf.model.gang import Gang
from fourleaf.model.job_mix import LikelyGang, likely_gangs
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.instance.candidates import Candidate, Candidates
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_type import GangType
from fourleaf.solver.instance.joined_candidates import JoinedCandidates
from fourleaf.solver.instance.node_packing import NodePacking
from fourleaf.solver.instance.preferred_nodes import PreferredNodes, profile_of


@dataclass(frozen=True, slots=True)
class RoleRoom:
    """Pods of one kind that fit now, each role alone: by role and node, by role and leaf."""

    by_node: list[list[int]]
    by_leaf: list[list[int]]


class CycleState:
    """One snapshot on its fabric, by index.

    Where a custom node term is in force, any two nodes may be worth different points.
    `likely` stands in place of the shapes that the snapshot itself would give.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        fabric: FabricIndex,
        likely: tuple[LikelyGang, ...] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.fabric = fabric
        self._likely = likely
        self.spec = fabric.spec
        used = snapshot.used
        self._amounts = list(fabric.amounts)
        self.free_id = list(fabric.empty_id)
        ids = {amount: i for i, amount in enumerate(self._amounts)}
        met: dict[int, int] = {}
        free = snapshot.free
        for i, node in enumerate(fabric.nodes):
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
        self.free_gpus = sum(max(0, amount.gpus) for amount in self.free)
        self._rooms: dict[GangType, RoleRoom] = {}
        self._pods: dict[tuple[int, int, bool], tuple[list[int], list[int]]] = {}
        self.preferred = PreferredNodes(fabric)
        self.merged: dict[frozenset[int], JoinedCandidates] = {}
        """By the identities of several `Candidates`: kept for groups that share them."""
        self._open: dict[Candidates, list[tuple[Candidate, int]]] = {}
        self._score_classes: dict[int, list[dict[int, int]]] = {}
        self._slots: dict[int, list[int]] = {}
        self._bind: dict[tuple[int, int], bool] = {}

    def room(self, kind: GangType) -> RoleRoom:
        """How many pods of `kind` fit now."""
        room = self._rooms.get(kind)
        if room is None:
            each = [self._room_of(kind, role) for role in range(len(kind.sizes))]
            room = RoleRoom([by_node for by_node, _ in each], [by_leaf for _, by_leaf in each])
            self._rooms[kind] = room
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
            leaves = [upto[here.stop] - upto[here.start] for here in self.fabric.in_leaf]
            known = self._pods[key] = (nodes, leaves)
        return known

    def open_places(self, kind: GangType, candidates: Candidates) -> list[tuple[Candidate, int]]:
        """The required candidates with room now, and how many gangs of the kind each holds."""
        known = self._open.get(candidates)
        if known is None:
            room = self.room(kind).by_leaf
            required = candidates.required
            if candidates.of_one_leaf and len(room) == 1:
                here = room[0]
                known = [
                    (place, fit)
                    for place, (_, leaf, count) in zip(required, candidates.starts, strict=True)
                    if (fit := here[leaf] // count)
                ]
            else:
                known = [
                    (place, fit)
                    for place, demands, (role, leaf, count) in zip(
                        required, candidates.demands, candidates.starts, strict=True
                    )
                    if room[role][leaf] >= count
                    and (fit := min([room[r][i] // n for r, i, n in demands]))
                ]
            self._open[candidates] = known
        return known

    def open_score_classes(self, kind: GangType) -> list[dict[int, int]]:
        """Leaf -> how many nodes of each score class have room for a pod of the first role."""
        by_node = self.room(kind).by_node[0]
        known = self._score_classes.get(id(by_node))
        if known is None:
            score_class = self.score_class_of
            known = self._score_classes[id(by_node)] = [{} for _ in self.fabric.in_leaf]
            for leaf, i, room in zip(self.fabric.leaf_of, score_class, by_node, strict=True):
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
        one of a kind, which outlives the state.
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
    def prefers(self) -> bool:
        """Whether pods prefer some nodes to others."""
        return any(len(set(column)) > 1 for column in self._preferences)

    def tells_apart(self, gang: Gang, role: int) -> bool:
        """Whether the pods of a role prefer some nodes to others, or look for few of them."""
        if not any(self._preference_class_of):
            return False
        prefers = profile_of(gang.roles[role], self.fabric) is not None
        return prefers or self.packing.tells_apart(gang, role)

    @cached_property
    def _gangs(self) -> tuple[Gang, ...]:
        return (*self.snapshot.gangs, *(one.gang for one in self.snapshot.standing))

    @cached_property
    def _preferences(self) -> list[tuple[int, ...]]:
        return self.preferred.columns(self._gangs)

    @cached_property
    def packing(self) -> NodePacking:
        """What nodes cost pods that look for few of them."""
        return NodePacking(self.snapshot, self.fabric, self.free)

    @cached_property
    def _preference_class_of(self) -> list[int]:
        """Node -> a number shared by nodes that no gang tells apart by what it prefers."""
        columns = [*self._preferences, *self.packing.columns(self._gangs)]
        if not columns:
            return [0] * len(self.fabric.nodes)
        ids: dict[Hashable, int] = {}
        return [ids.setdefault(row, len(ids)) for row in zip(*columns, strict=True)]

    @cached_property
    def score_class_of(self) -> list[int]:
        """Node -> a number shared by nodes that no node term tells apart."""
        preferred = self._preference_class_of
        if not any(preferred):
            return self.plain_class_of
        ids: dict[tuple[int, int], int] = {}
        both = zip(self.plain_class_of, preferred, strict=True)
        return [ids.setdefault(pair, len(ids)) for pair in both]

    @cached_property
    def plain_class_of(self) -> list[int]:
        """The same for a pod that prefers no node to another."""
        fabric = self.fabric
        if fabric.extensions.node_terms:
            return list(range(len(fabric.nodes)))
        alike = list(zip(self.free_id, fabric.nature, strict=True))
        ids: dict[Hashable, int] = {}
        numbers: dict[tuple[int, int], int] = {}
        for amounts, i in {amounts: i for i, amounts in enumerate(alike)}.items():
            node, free = fabric.nodes[i], self.free[i]
            full = node.allocatable
            each = (free.cpu, full.cpu, free.memory, full.memory, free.pods, full.pods)
            devices = free.devices if self.snapshot.wishing else None
            numbers[amounts] = ids.setdefault((each, node.failure_permille, devices), len(ids))
        return [numbers[amounts] for amounts in alike]

    @cached_property
    def node_of_score_class(self) -> list[int]:
        """Score class -> a node of it."""
        node_of = {score_class: node for node, score_class in enumerate(self.score_class_of)}
        return [node_of[score_class] for score_class in range(len(node_of))]

    @cached_property
    def amounts_of_score_class(self) -> tuple[list[tuple[Resources, Resources]], list[int]]:
        """What nodes have in all and what is free, each pair once, and score class -> its pair."""
        free, empty = self.free_id, self.fabric.empty_id
        pairs, numbers = _numbered([(empty[i], free[i]) for i in self.node_of_score_class])
        return [(self.fabric.amounts[full], self._amounts[left]) for full, left in pairs], numbers

    @cached_property
    def leaf_gpus(self) -> list[tuple[int, int]]:
        """Leaf -> (GPUs in use, GPUs in all) over its schedulable nodes."""
        left = [free.gpus for free in self._amounts]
        full = [amount.gpus for amount in self.fabric.amounts]
        fabric = self.fabric
        used = [
            max(0, full[empty] - left[free]) if ok else 0
            for empty, free, ok in zip(
                fabric.empty_id, self.free_id, fabric.schedulable, strict=True
            )
        ]
        return [
            (sum(used[nodes.start : nodes.stop]), total)
            for nodes, total in zip(fabric.in_leaf, fabric.gpus_in_leaf, strict=True)
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
