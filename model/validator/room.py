"""Eligible nodes (section 2) and what an empty leaf holds (section 3) for one ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import gt

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.validator.static_keys import Counts, EligibilityKey

Spot = tuple[Resources, Counts, Counts]
"""An empty node: what it offers, how many pods of each role it holds (0: not eligible), and how
many run there although it would not take them anew."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What `fill` did: pods taken per role, and nodes opened."""

    taken: Counts
    opened: int


def times(request: Resources, pods: int) -> Resources:
    """Multiply a request by a number of pods."""
    return Resources(
        gpus=request.gpus * pods,
        cpu=(request.cpu or 0) * pods,
        memory=(request.memory or 0) * pods,
        pods=request.pods * pods,
        extra=tuple((name, amount * pods) for name, amount in request.extra),
    )


def pour(
    spots: Sequence[Spot],
    requests: Sequence[Resources],
    remaining: Counts,
    one_per_node: bool,
    caps: tuple[int | None, int | None],
) -> Filled:
    """`fill` of section 3 over the nodes `spots`; `caps` are most nodes and most GPUs."""
    max_nodes, max_gpus = caps
    left: dict[int, Resources] = {}
    taken: list[int] = []
    gpus = 0
    for role, (request, wanted) in enumerate(zip(requests, remaining, strict=True)):
        need, got = wanted, 0
        most = [max(holds[role], held[role]) for _, holds, held in spots]
        holders = sorted((i for i, pods in enumerate(most) if pods), key=lambda i: -most[i])
        for i in holders:
            if max_gpus is not None and request.gpus:
                need = min(need, (max_gpus - gpus) // request.gpus)
            if need <= 0:
                break
            fresh = i not in left
            if (fresh and max_nodes is not None and len(left) >= max_nodes) or (
                one_per_node and not fresh
            ):
                continue
            offer = left.get(i, spots[i][0])
            room = spots[i][2][role] or fits(offer, request)
            pods = min(need, room, 1 if one_per_node else need)
            if pods:
                left[i] = _after(offer, request, pods)
                need -= pods
                got += pods
                gpus += pods * request.gpus
        taken.append(got)
    return Filled(tuple(taken), len(left))


def _after(offer: Resources, request: Resources, pods: int) -> Resources:
    """What is left of `offer` once so many pods have come."""
    if request.wants is None:
        return minus(offer, times(request, pods))
    for _ in range(pods):
        offer = minus(offer, request)
    return offer


class EmptyLeafRoom:
    """The empty fabric as gangs of one ground see it."""

    def __init__(self, fabric: Fabric, ground: EligibilityKey) -> None:
        self.ground = ground
        self.requests = tuple(request for request, _ in ground.asks)
        self._holds: dict[str, Counts] = {}
        self._leaves: list[int] = []
        self._plots: list[tuple[Spot, ...]] = []
        self._memo: dict[tuple[int, Counts], Filled] = {}
        self.open_leaves = 0
        """How many leaves have a node that is eligible for the first role."""
        plots: dict[tuple[Spot, ...], int] = {}
        none = (0,) * len(ground.asks)
        held = dict(ground.held)
        for leaf in fabric.leaves:
            allowed = ground.domains is None or bool({leaf.name, leaf.spine} & set(ground.domains))
            plot = []
            for node in leaf.nodes:
                holds = self._node_holds(node, allowed)
                self._holds[node.name] = holds
                here = tuple(
                    members if members > most else 0
                    for members, most in zip(held.get(node.name, none), holds, strict=True)
                )
                if any(holds) or any(here):
                    plot.append((node.allocatable, holds, here))
            self.open_leaves += any(self._holds[node.name][0] for node in leaf.nodes)
            # Leaves that look alike share one plot, so that each is filled once.
            number = plots.setdefault(tuple(plot), len(plots))
            if number == len(self._plots):
                self._plots.append(tuple(plot))
            self._leaves.append(number)

    @cached_property
    def open_nodes(self) -> int:
        """How many nodes are eligible for the first role."""
        return sum(holds[0] > 0 for holds in self._holds.values())

    def _node_holds(self, node: Node, allowed: bool) -> Counts:
        ground = self.ground
        known = ground.node_bandwidth if node.bandwidth is None else node.bandwidth
        bandwidth = -1 if known is None else known
        if (
            not allowed
            or not node.schedulable
            or (ground.bandwidth is not None and bandwidth < ground.bandwidth)
        ):
            return (0,) * len(ground.asks)
        return tuple(self._role_holds(node, role) for role in range(len(ground.asks)))

    def _role_holds(self, node: Node, role: int) -> int:
        request, constraint = self.ground.asks[role]
        if not (constraint.selects(node) and constraint.tolerates(node)):
            return 0
        gang = self.ground.gang
        if gang is not None and not all(
            rule.allows(gang, gang.roles[role], node) for rule in self.ground.rules
        ):
            return 0
        return fits(node.allocatable, request)

    def eligible(self, role: int, node: str) -> bool:
        """Whether `node` is eligible for the role at position `role`."""
        return self._holds[node][role] > 0

    def held(self, gang: Gang) -> tuple[tuple[str, Counts], ...]:
        """The nodes on which more members of a role run than there is room for when empty."""
        found: dict[str, list[int]] = {}
        for position, role in enumerate(gang.roles):
            for _, node in role.bound:
                if node in self._holds:
                    found.setdefault(node, [0] * len(gang.roles))[position] += 1
        return tuple(
            (node, tuple(counts))
            for node, counts in sorted(found.items())
            if any(map(gt, counts, self._holds[node]))
        )

    def fill(self, leaf: int, remaining: Counts) -> Filled:
        """`fill(leaf, remaining)` of section 3 for the leaf at position `leaf`."""
        key = (self._leaves[leaf], remaining)
        found = self._memo.get(key)
        if found is None:
            ground = self.ground
            found = self._memo[key] = pour(
                self._plots[key[0]],
                self.requests,
                remaining,
                ground.one_per_node,
                (ground.max_nodes, ground.max_gpus),
            )
        return found

    def node_count(self, sizes: Counts) -> int:
        """Nodes that `fill` opens when the whole fabric is one leaf without caps (section 4)."""
        spots = [spot for number in self._leaves for spot in self._plots[number]]
        return pour(spots, self.requests, sizes, self.ground.one_per_node, (None, None)).opened

    @cached_property
    def single(self) -> bool:
        """Whether the gang has one role, so that a leaf holds a plain number of its pods."""
        return len(self.requests) == 1
