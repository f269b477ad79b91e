"""Where a kind of gang could stand if the fabric were empty: eligible nodes and `fill`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fourleaf.model.gang import Gang, Role
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.topology import leaf_caps
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.label_index import bits_of
from fourleaf.solver.instance.time_share import check_time_share

Counts = tuple[int, ...]
"""Pods per role."""


@dataclass(frozen=True)
class GangTypeKey:
    """Gangs with equal keys may stand at the same places.

    `held` are, by role, (node, members) of those that run where no such pod would be taken anew.
    """

    roles: tuple[tuple[Resources, NodeConstraint, int], ...]
    one_per_node: bool
    bandwidth: int | None
    domains: tuple[str, ...] | None
    allowed: tuple[frozenset[int], ...] | None = None
    held: tuple[tuple[tuple[int, int], ...], ...] = ()


class GangType:
    """Eligible nodes of each role, and what a leaf holds when empty (docs/model.md, 2 and 3)."""

    def __init__(self, fabric: FabricIndex, key: GangTypeKey, eligible: list[list[bool]]) -> None:
        self.fabric = fabric
        self.key = key
        self.sizes: Counts = tuple(size for _, _, size in key.roles)
        self.requests = [fabric.known_request(request) for request, _, _ in key.roles]
        caps = leaf_caps(fabric.spec, fabric.source)
        self.max_nodes = caps.max_nodes_per_leaf
        self.max_gpus = caps.max_gpus_per_leaf
        self.eligible: list[list[list[int]]] = []
        """Role -> leaf -> eligible nodes."""
        self.holds: list[list[int]] = []
        """Role -> node -> pods it holds when empty (0 where not eligible)."""
        for role, request in enumerate(self.requests):
            by_id = [fits(amount, request) for amount in fabric.amounts]
            mask = eligible[role]
            holds = [by_id[i] if ok else 0 for i, ok in zip(fabric.empty_id, mask, strict=True)]
            self.holds.append(holds)
            self.eligible.append([[i for i in nodes if holds[i]] for nodes in fabric.in_leaf])
        self._held = [dict(held) for held in key.held or [()] * len(self.holds)]
        """Role -> node -> members that run there, where none would be taken anew."""
        self._none_held: list[dict[int, int]] = [{} for _ in self.holds]
        self._empty_holds = self._with_held()
        """Role -> node -> pods it holds when empty, or that run there."""
        self._filled: dict[tuple[int, Counts], Counts] = {}
        self._covered: dict[GangType, bool] = {}

    def _with_held(self) -> list[list[int]]:
        if not self.key.held:
            return self.holds
        found = [list(holds) for holds in self.holds]
        for holds, held in zip(found, self._held, strict=True):
            for node, members in held.items():
                holds[node] = members
        return found

    @cached_property
    def mask(self) -> list[int]:
        """Role -> a number for its eligible nodes, the same for equal ones."""
        return [self.fabric.mask_number(tuple([n > 0 for n in holds])) for holds in self.holds]

    @cached_property
    def whole(self) -> list[list[bool]]:
        """Role -> leaf -> whether every node of it is eligible."""
        return [
            [len(some) == len(nodes) for some, nodes in zip(role, self.fabric.in_leaf, strict=True)]
            for role in self.eligible
        ]

    @cached_property
    def capacity(self) -> list[int]:
        """Leaf -> pods it holds when empty, of a gang of one role however large."""
        holds = self._empty_holds[0]
        gpus = self.requests[0].gpus
        one = self.key.one_per_node
        out = []
        for nodes in self.fabric.in_leaf:
            each = sorted((min(1, holds[i]) if one else holds[i] for i in nodes), reverse=True)
            if self.max_nodes is not None:
                each = each[: self.max_nodes]
            total = sum(each)
            if self.max_gpus is not None and gpus:
                total = min(total, self.max_gpus // gpus)
            out.append(total)
        return out

    def fill(self, leaf: int, remaining: Counts) -> Counts:
        """What the empty leaf takes of `remaining`."""
        if len(remaining) == 1:
            return (min(remaining[0], self.capacity[leaf]),)
        known = self._filled.get((leaf, remaining))
        if known is None:
            check_time_share()
            known, _ = self.fill_nodes(self.fabric.in_leaf[leaf], remaining)
            self._filled[leaf, remaining] = known
        return known

    def fill_nodes(
        self,
        nodes: Iterable[int],
        remaining: Counts,
        capped: bool = True,
        free: Sequence[Resources] | None = None,
    ) -> tuple[Counts, int]:
        """`fill` over `nodes`, empty or as `free` says; pods per role, and nodes it opens."""
        members = list(nodes)
        left = {i: self.fabric.nodes[i].allocatable if free is None else free[i] for i in members}
        empty = self._empty_holds, self._held
        every, held_there = empty if free is None else (self.holds, self._none_held)
        opened: set[int] = set()
        gpus = self.max_gpus if capped else None
        max_nodes = self.max_nodes if capped else None
        placed: list[int] = []
        # What is held may be more than its node has.
        gpus_left = math.inf if self.key.held else sum(amount.gpus for amount in left.values())
        for role, want in enumerate(remaining):
            request = self.requests[role]
            if not want or request.gpus > gpus_left:
                placed.append(0)
                continue
            done = 0
            holds, held = every[role], held_there[role]
            for i in sorted((i for i in members if holds[i]), key=lambda i: (-holds[i], i)):
                if done == want:
                    break
                new = i not in opened
                if self.key.one_per_node and not new:
                    continue
                if new and max_nodes is not None and len(opened) >= max_nodes:
                    continue
                count = min(want - done, held[i] if i in held else fits(left[i], request))
                if self.key.one_per_node:
                    count = min(count, 1)
                if gpus is not None and request.gpus:
                    count = min(count, gpus // request.gpus)
                if count <= 0:
                    continue
                opened.add(i)
                done += count
                gpus_left -= count * request.gpus
                if gpus is not None:
                    gpus -= count * request.gpus
                for _ in range(count):
                    left[i] = minus(left[i], request)
            placed.append(done)
        return tuple(placed), len(opened)

    def nodes_for(self, leaf: int, counts: Counts) -> int:
        """How many nodes of the empty leaf hold these pods."""
        return self.fill_nodes(self.fabric.in_leaf[leaf], counts)[1]

    @cached_property
    def node_count(self) -> int:
        """The gang's node count: nodes that `fill` opens on the whole fabric, without caps."""
        return self.fill_nodes(range(len(self.fabric.nodes)), self.sizes, capped=False)[1]

    @cached_property
    def allowed_leaves(self) -> int | None:
        """Leaves that the rule for the gang's node count allows, where there is one."""
        rules = self.fabric.spec.topology_constraints.rules
        return {rule.nodes: rule.leaves for rule in rules}.get(self.node_count) if rules else None

    @cached_property
    def beyond_windows(self) -> bool:
        """Whether it has more nodes than gangs that stand in windows, so may use any leaves."""
        most = self.fabric.spec.topology_constraints.window_nodes
        # No gang opens more nodes than it has pods: most need no look at the nodes.
        large = sum(self.sizes) > max(most, 1) and self.node_count > most
        return large and self.allowed_leaves is None

    @cached_property
    def shares_nodes(self) -> bool:
        """Whether two pods of the gang could stand on one node when it is empty."""
        if any(hold > 1 for holds in self.holds for hold in holds):
            return True
        for a in range(len(self.requests)):
            for b in range(a + 1, len(self.requests)):
                seen: set[int] = set()
                for i, node in enumerate(self.fabric.nodes):
                    if not (self.holds[a][i] and self.holds[b][i]):
                        continue
                    if self.fabric.empty_id[i] in seen:
                        continue
                    seen.add(self.fabric.empty_id[i])
                    if fits(minus(node.allocatable, self.requests[a]), self.requests[b]):
                        return True
        return False

    @cached_property
    def careful(self) -> bool:
        """Whether a law counts nodes while the gang's pods could share one."""
        counts_nodes = self.key.one_per_node or self.max_nodes is not None
        return sum(self.sizes) > 1 and counts_nodes and self.shares_nodes

    @cached_property
    def open_nodes(self) -> int:
        """How many nodes are eligible for the first role."""
        return sum([hold > 0 for hold in self.holds[0]])

    @cached_property
    def open_leaves(self) -> int:
        """How many leaves have such a node."""
        return sum([bool(nodes) for nodes in self.eligible[0]])

    @cached_property
    def breadth(self) -> int:
        """How many nodes are eligible, over all roles."""
        return sum(len(nodes) for role in self.eligible for nodes in role)

    def covers(self, other: GangType) -> bool:
        """Whether `other` may use, in every leaf, the same nodes as this kind or none."""
        known = self._covered.get(other)
        if known is None:
            known = self._covered[other] = other is self or all(
                theirs == ours or not any(theirs)
                for theirs, ours in zip(
                    zip(*other.eligible, strict=True), zip(*self.eligible, strict=True), strict=True
                )
            )
        return known


class GangTypes:
    """All kinds met on one fabric, each worked out once."""

    def __init__(self, fabric: FabricIndex) -> None:
        self.fabric = fabric
        self._masks: dict[
            tuple[NodeConstraint, int | None, tuple[str, ...] | None], list[bool]
        ] = {}
        self._bits: dict[tuple[int | None, tuple[str, ...] | None], int] = {}
        self._kinds: dict[GangTypeKey, GangType] = {}

    def __len__(self) -> int:
        """How many kinds have been met."""
        return len(self._kinds)

    def of(self, gang: Gang) -> GangType:
        """The kind of `gang`.

        Being one per node is dropped where it says nothing: where nodes cannot be shared, and
        for a single pod, which may well share its node with other gangs.
        """
        allowed = None
        if self.fabric.extensions.rules:
            allowed = tuple(self._allowed(gang, role) for role in gang.roles)
        key = replace(self._key(gang), allowed=allowed)
        kind = self.get(key)
        held = self._held(gang, kind)
        if gang.one_per_node and sum(kind.sizes) > 1 and (kind.shares_nodes or any(held)):
            kind = self.get(replace(key, one_per_node=True))
        return self.get(replace(kind.key, held=held)) if any(held) else kind

    def without_held(self, kind: GangType) -> GangType:
        """The kind of such gangs of which no member runs."""
        return self.get(replace(kind.key, held=()))

    def _held(self, gang: Gang, kind: GangType) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Of each role, the nodes on which more members run than there is room for when empty."""
        if not any(role.bound for role in gang.roles):
            return ()
        index = self.fabric.index
        return tuple(
            tuple(
                (node, members)
                for node, members in sorted(
                    Counter(index[host] for _, host in role.bound if host in index).items()
                )
                if members > holds[node]
            )
            for role, holds in zip(gang.roles, kind.holds, strict=True)
        )

    def known(self, gang: Gang) -> GangType | None:
        """The kind of `gang`, None where it has not been met, or rules may tell gangs apart."""
        if self.fabric.extensions.rules:
            return None
        key = self._key(gang)
        kind = self._kinds.get(key)
        if kind is None:
            return None
        held = self._held(gang, kind)
        one = gang.one_per_node and sum(kind.sizes) > 1 and (kind.shares_nodes or any(held))
        if not one and not any(held):
            return kind
        return self._kinds.get(replace(key, one_per_node=one, held=held if any(held) else ()))

    def _key(self, gang: Gang) -> GangTypeKey:
        """The key of a gang, but for what rules say, and for being one per node."""
        domains = self.fabric.spec.namespace(gang.key.namespace).domains
        roles = tuple((role.request, role.constraint, role.size) for role in gang.roles)
        return GangTypeKey(roles, False, gang.bandwidth, domains)

    def get(self, key: GangTypeKey) -> GangType:
        """The kind with this key."""
        kind = self._kinds.get(key)
        if kind is None:
            masks = []
            for role, (_, constraint, _) in enumerate(key.roles):
                mask = self._mask(constraint, key.bandwidth, key.domains)
                if key.allowed is not None:
                    allowed = key.allowed[role]
                    mask = [ok and i in allowed for i, ok in enumerate(mask)]
                masks.append(mask)
            kind = self._kinds[key] = GangType(self.fabric, key, masks)
        return kind

    def _allowed(self, gang: Gang, role: Role) -> frozenset[int]:
        rules = self.fabric.extensions.rules
        return frozenset(
            i
            for i, node in enumerate(self.fabric.nodes)
            if all(rule.allows(gang, role, node) for rule in rules)
        )

    def _mask(
        self, constraint: NodeConstraint, bandwidth: int | None, domains: tuple[str, ...] | None
    ) -> list[bool]:
        key = (constraint, bandwidth, domains)
        mask = self._masks.get(key)
        if mask is None:
            labels = self.fabric.labels
            bits = self._usable(bandwidth, domains)
            bits &= labels.selected(constraint) & labels.tolerated(constraint)
            mask = self._masks[key] = labels.listed(bits)
        return mask

    def _usable(self, bandwidth: int | None, domains: tuple[str, ...] | None) -> int:
        """The bits of the nodes that take pods of a namespace limited so, whatever these ask."""
        key = (bandwidth, domains)
        if key not in self._bits:
            fabric = self.fabric
            self._bits[key] = bits_of(
                i
                for i, ok in enumerate(fabric.schedulable)
                if ok and fabric.carries(i, bandwidth) and fabric.open_to(i, domains)
            )
        return self._bits[key]
