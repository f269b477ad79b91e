"""The leaf rule by enumeration: every legal location of a tiny instance, from the definition.

Written from `docs/model.md` alone and on purpose without a thought for speed: pods are put
one at a time, and windows are every simple path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import AdjacencyKind, Leaf
from fourleaf.model.gang import Gang, TopologyPolicy
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.quantity import mbits
from fourleaf.model.resources import Resources, fits, minus
from fourleaf.model.snapshot import Snapshot

Part = tuple[int, ...]
Location = frozenset[tuple[int, Part]]


@dataclass(frozen=True)
class Wish:
    """What is to be placed: a gang, or a phantom, which has no gang and no domains."""

    requests: tuple[Resources, ...]
    constraints: tuple[NodeConstraint, ...]
    sizes: Part
    one_per_node: bool
    preferred: bool = False
    bandwidth: int | None = None
    domains: tuple[str, ...] | None = None
    gang: Gang | None = None
    held: tuple[Mapping[str, int], ...] = ()
    """Of each role, the members that run on a node."""


def wish_of(snapshot: Snapshot, gang: Gang) -> Wish:
    """Reduce a gang to what its locations depend on."""
    return Wish(
        requests=tuple(role.request for role in gang.roles),
        constraints=tuple(role.constraint for role in gang.roles),
        sizes=tuple(len(role.pods) + len(role.bound) for role in gang.roles),
        one_per_node=gang.one_per_node,
        preferred=gang.policy is TopologyPolicy.PREFERRED,
        bandwidth=gang.bandwidth,
        domains=snapshot.config.spec.namespace(gang.key.namespace).domains,
        gang=gang,
        held=tuple(Counter(node for _, node in role.bound) for role in gang.roles),
    )


def phantom_wish(nodes: int, gpus: int) -> Wish:
    """Describe a phantom: one pod of `gpus` GPUs on each of `nodes` nodes."""
    return Wish((Resources(gpus=gpus),), (NodeConstraint(),), (nodes,), one_per_node=True)


class LeafRule:
    """All legal locations of one wish on one fabric, and F."""

    def __init__(self, snapshot: Snapshot, wish: Wish, extensions: Extensions) -> None:
        self.snapshot = snapshot
        self.spec = snapshot.config.spec
        self.wish = wish
        self.extensions = extensions
        self._fills: dict[tuple[int, Part], tuple[Part, int]] = {}

    def eligible(self, role: int, node: Node) -> bool:
        """Section 2, condition by condition."""
        wish, fabric = self.wish, self.snapshot.fabric
        leaf = fabric.leaves[fabric.leaf_of[node.name]]
        if not node.ready or node.cordoned:
            return False
        constraint = wish.constraints[role]
        if not constraint.selects(node) or not constraint.tolerates(node):
            return False
        if wish.bandwidth is not None and not self._carries(node, wish.bandwidth):
            return False
        if wish.domains is not None and not {leaf.name, leaf.spine} & set(wish.domains):
            return False
        if fits(node.allocatable, wish.requests[role]) < 1:
            return False
        gang = wish.gang
        return gang is None or all(
            rule.allows(gang, gang.roles[role], node) for rule in self.extensions.rules
        )

    def _carries(self, node: Node, asked: int) -> bool:
        """Condition 3: where nothing at all is stated, every node does, unless it must be."""
        network = self.spec.network
        default = None if network.node_bandwidth is None else mbits(network.node_bandwidth)
        stated = [one.bandwidth for one in self.snapshot.fabric.nodes.values()]
        if default is None and not network.require_stated and stated == [None] * len(stated):
            return True
        known = default if node.bandwidth is None else node.bandwidth
        return known is not None and known >= asked

    def fill(self, leaf: int, remaining: Part) -> tuple[Part, int]:
        """Section 3: pods taken per role, and nodes opened."""
        key = (leaf, remaining)
        if key not in self._fills:
            caps = self.spec.topology_constraints
            nodes = self.snapshot.fabric.leaves[leaf].nodes
            self._fills[key] = self._pour(
                nodes, remaining, caps.max_nodes_per_leaf, caps.max_gpus_per_leaf
            )
        return self._fills[key]

    def _pour(
        self, nodes: tuple[Node, ...], remaining: Part, max_nodes: int | None, max_gpus: int | None
    ) -> tuple[Part, int]:
        left = {node.name: node.allocatable for node in nodes}
        opened: set[str] = set()
        gpus = 0
        taken = [0] * len(remaining)
        for role, request in enumerate(self.wish.requests):
            holds = {node.name: self._holds(role, node) for node in nodes}
            held = {node.name for node in nodes if holds[node.name] > self._takes(role, node)}
            able = [node for node in nodes if holds[node.name]]
            able.sort(key=lambda node: holds[node.name], reverse=True)
            for node in able:
                if self.wish.one_per_node and node.name in opened:
                    continue
                before = taken[role]
                while taken[role] < min(remaining[role], before + holds[node.name]):
                    if node.name not in held and fits(left[node.name], request) < 1:
                        break
                    if max_gpus is not None and request.gpus and gpus + request.gpus > max_gpus:
                        break
                    if node.name not in opened and len(opened) == max_nodes:
                        break
                    left[node.name] = minus(left[node.name], request)
                    opened.add(node.name)
                    gpus += request.gpus
                    taken[role] += 1
                    if self.wish.one_per_node:
                        break
        return tuple(taken), len(opened)

    def _holds(self, role: int, node: Node) -> int:
        """What the empty node takes of a role, or as many as run there."""
        running = self.wish.held[role].get(node.name, 0) if self.wish.held else 0
        return max(self._takes(role, node), running)

    def _takes(self, role: int, node: Node) -> int:
        return fits(node.allocatable, self.wish.requests[role]) if self.eligible(role, node) else 0

    def node_count(self) -> int:
        """Nodes opened when the whole fabric is one leaf without caps."""
        leaves: tuple[Leaf, ...] = self.snapshot.fabric.leaves
        nodes = tuple(node for leaf in leaves for node in leaf.nodes)
        return self._pour(nodes, self.wish.sizes, None, None)[1]

    def _touch(self, spine: tuple[int, ...], a: int, b: int) -> bool:
        fabric = self.snapshot.fabric
        if fabric.adjacency is AdjacencyKind.EXPLICIT:
            names = fabric.leaves[a].name, fabric.leaves[b].name
            return names in fabric.edges or names[::-1] in fabric.edges
        apart = abs(spine.index(a) - spine.index(b))
        ring = fabric.adjacency is AdjacencyKind.RING
        return apart == 1 or (ring and len(spine) > 1 and apart == len(spine) - 1)

    def _is_aligned(self, spine: tuple[int, ...], path: tuple[int, ...]) -> bool:
        if self.snapshot.fabric.adjacency is not AdjacencyKind.ALIGNED:
            return True
        block = 1
        while block < len(path):
            block *= 2
        places = [spine.index(leaf) for leaf in path]
        return not any(min(places) < m <= max(places) for m in range(0, len(spine) + 1, block))

    def windows(self, spine: tuple[int, ...], need: Part) -> Iterator[Location]:
        """Every window of one spine that holds `need`."""

        def grow(path: tuple[int, ...], parts: tuple[Part, ...], left: Part) -> Iterator[Location]:
            taken, _ = self.fill(path[-1], left)
            if not any(taken):
                return
            parts = (*parts, taken)
            left = tuple(a - b for a, b in zip(left, taken, strict=True))
            if not any(left):
                if self._is_aligned(spine, path):
                    yield frozenset(zip(path, parts, strict=True))
                return
            for leaf in spine:
                if leaf not in path and self._touch(spine, path[-1], leaf):
                    yield from grow((*path, leaf), parts, left)

        for leaf in spine:
            yield from grow((leaf,), (), need)

    def _all_windows(self, need: Part) -> list[Location]:
        spines = self.snapshot.fabric.spines.values()
        return [window for spine in spines for window in self.windows(spine, need)]

    def _whole_spines(self) -> list[tuple[int, Location]]:
        """(spines, location) of whole spines and a rest, of the fewest spines alone."""
        spines = list(self.snapshot.fabric.spines.values())
        slack = self.spec.topology.window_slack
        for length in range(2, len(spines) + 1):
            found: list[tuple[int, Location]] = []
            for first in range(len(spines) - length + 1):
                run = spines[first : first + length]
                for path in (run, run[::-1]):
                    head, left = self._take_spines(path[:-1])
                    if head is None or not any(left):
                        continue
                    shortest = min((len(w) for w in self._all_windows(left)), default=0)
                    found += [
                        (length, head | window)
                        for window in self.windows(path[-1], left)
                        if len(window) <= shortest + slack
                    ]
            if found:
                return found
        return []

    def _take_spines(self, spines: list[tuple[int, ...]]) -> tuple[Location | None, Part]:
        left, parts = self.wish.sizes, []
        for spine in spines:
            took = False
            for leaf in spine:
                taken, _ = self.fill(leaf, left)
                if any(taken):
                    took = True
                    parts.append((leaf, taken))
                    left = tuple(a - b for a, b in zip(left, taken, strict=True))
            if not took:
                return None, left
        return frozenset(parts), left

    def _anywhere(self) -> set[Location]:
        """Every split over the leaves of one spine that the empty leaves could hold."""
        found: set[Location] = set()
        sizes = self.wish.sizes
        parts = list(product(*(range(n + 1) for n in sizes)))
        for spine in self.snapshot.fabric.spines.values():
            rows: list[list[Part]] = [
                [part for part in parts if self.fill(leaf, part)[0] == part] for leaf in spine
            ]

            def split(i: int, left: Part, chosen: tuple[tuple[int, Part], ...]) -> None:
                if not any(left):
                    found.add(frozenset(chosen))
                    return
                if i == len(spine):  # noqa: B023
                    return
                for part in rows[i]:  # noqa: B023
                    after = tuple(a - b for a, b in zip(left, part, strict=True))
                    if min(after) >= 0:
                        step = ((spine[i], part),) if any(part) else ()  # noqa: B023
                        split(i + 1, after, chosen + step)

            split(0, sizes, ())
        return found

    def unbounded(self) -> tuple[set[Location], int]:
        """Every legal location before bound members are looked at, and F."""
        sizes = self.wish.sizes
        windows = self._all_windows(sizes)
        fewest = 0
        if windows:
            k = min(len(window) for window in windows)
            fewest = k + 1
            rules = {rule.nodes: rule.leaves for rule in self.spec.topology_constraints.rules}
            limit = rules.get(self.node_count(), k) + self.spec.topology.window_slack
            legal = {window for window in windows if len(window) <= limit}
        else:
            spanning = self._whole_spines()
            fewest = min((spines + len(where) for spines, where in spanning), default=0)
            legal = {where for _, where in spanning}
        if self._may_use_any_leaves():
            legal = self._anywhere() or legal
            spans = [fewest] if fewest else []
            if self._scattered():
                spans.append(1 + self._scattered())
            fewest = min(spans, default=1)
        return legal, fewest

    def _may_use_any_leaves(self) -> bool:
        return self.wish.preferred or self._too_large_for_windows()

    def _too_large_for_windows(self) -> bool:
        """More nodes than `windowNodes`, and no entry of `rules` for so many."""
        constraints = self.spec.topology_constraints
        nodes = self.node_count()
        named = {rule.nodes for rule in constraints.rules}
        return sum(self.wish.sizes) > 1 and nodes > constraints.window_nodes and nodes not in named

    def _scattered(self) -> int:
        sizes = self.wish.sizes
        gpus = [request.gpus for request in self.wish.requests]
        weight = gpus if any(a * b for a, b in zip(gpus, sizes, strict=True)) else [1] * len(sizes)
        best = 0
        for spine in self.snapshot.fabric.spines.values():
            held = {
                leaf: sum(a * b for a, b in zip(self.fill(leaf, sizes)[0], weight, strict=True))
                for leaf in spine
            }
            left, leaves = sizes, 0
            for leaf in sorted(spine, key=lambda leaf: held[leaf], reverse=True):
                taken, _ = self.fill(leaf, left)
                leaves += any(taken)
                left = tuple(a - b for a, b in zip(left, taken, strict=True))
                if not any(left):
                    best = leaves if not best else min(best, leaves)
                    break
        return best

    def anew(self) -> LeafRule:
        """The rule as if no member ran."""
        return LeafRule(self.snapshot, replace(self.wish, held=()), self.extensions)

    def fewest(self) -> int:
        """F, with the members that run or without them, whichever is less."""
        both = self.unbounded()[1], self.anew().unbounded()[1]
        return min(filter(None, both), default=0)

    def locations(self, bound: dict[int, Part]) -> set[Location]:
        """Every legal location that has room for the members bound in each leaf."""
        legal = self.unbounded()[0]
        if not (self._may_use_any_leaves() and self._anywhere()):
            legal = legal | self.anew().unbounded()[0]
        nobody = (0,) * len(self.wish.sizes)
        return {
            where
            for where in legal
            if all(
                have >= need
                for leaf, part in bound.items()
                for have, need in zip(dict(where).get(leaf, nobody), part, strict=True)
            )
        }
