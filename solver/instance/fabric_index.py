"""What changes only with the node set or the rules: the fabric by number.

Built once, shared read-only by all solves on the same fabric and config.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property

from fourleaf.model.config.spec import Spec
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric
from fourleaf.model.node import GPU_SOURCE_LABEL, Node
from fourleaf.model.quantity import mbits
from fourleaf.model.resources import Resources
from fourleaf.solver.instance.adjacency import adjacent_leaves
from fourleaf.solver.instance.label_index import LabelIndex


class FabricIndex:
    """A fabric by index under one spec. Nodes are numbered leaf by leaf, in fabric order."""

    def __init__(self, fabric: Fabric, spec: Spec, extensions: Extensions) -> None:
        self.source = fabric
        self.spec = spec
        self.extensions = extensions
        self.leaves = fabric.leaves
        self.nodes: list[Node] = [node for leaf in fabric.leaves for node in leaf.nodes]
        self.leaf_of: list[int] = [i for i, leaf in enumerate(fabric.leaves) for _ in leaf.nodes]
        self.index = {node.name: i for i, node in enumerate(self.nodes)}
        self.in_leaf: list[range] = []
        start = 0
        for leaf in fabric.leaves:
            self.in_leaf.append(range(start, start + len(leaf.nodes)))
            start += len(leaf.nodes)
        self.spine_leaves: list[tuple[int, ...]] = list(fabric.spines.values())
        self.spine_of: list[int] = [0] * len(self.leaves)
        for spine, leaves in enumerate(self.spine_leaves):
            for leaf_index in leaves:
                self.spine_of[leaf_index] = spine
        self._places: dict[Hashable, int] = {}
        self._masks: dict[tuple[bool, ...], int] = {}
        self._amounts: dict[Resources, int] = {}
        self._requests: dict[Resources, Resources] = {}
        self.empty_id = [
            self._amounts.setdefault(node.allocatable, len(self._amounts)) for node in self.nodes
        ]
        self.amounts: list[Resources] = list(self._amounts)
        """The distinct allocatable amounts; `empty_id` says which one a node has."""

    def place_number(self, takes: Hashable) -> int:
        """A number for what a location takes, the same for equal takes."""
        return self._places.setdefault(takes, len(self._places))

    def known_request(self, request: Resources) -> Resources:
        """The request itself, the same object for equal ones."""
        return self._requests.setdefault(request, request)

    def mask_number(self, eligible: tuple[bool, ...]) -> int:
        """A number for which nodes may be used, the same for equal ones."""
        return self._masks.setdefault(eligible, len(self._masks))

    def carries(self, node: int, bandwidth: int | None) -> bool:
        """Whether the node's network bandwidth is known and enough, where any is to be known."""
        if bandwidth is None or not self.compares_bandwidth:
            return True
        own = self.nodes[node].bandwidth
        offered = self.default_bandwidth if own is None else own
        return offered is not None and offered >= bandwidth

    def open_to(self, node: int, domains: tuple[str, ...] | None) -> bool:
        """Whether a namespace that is limited to `domains` may use the node."""
        leaf = self.leaves[self.leaf_of[node]]
        return domains is None or leaf.name in domains or leaf.spine in domains

    def domain(self, name: str | None) -> frozenset[int] | None:
        """The leaves of a domain, by the name of a leaf or spine; `None` where none is named."""
        return None if name is None else self._domains.get(name, frozenset())

    @cached_property
    def _domains(self) -> dict[str, frozenset[int]]:
        """Name of a leaf or spine -> its leaves; a name may be that of both."""
        found: dict[str, set[int]] = {}
        for i, leaf in enumerate(self.leaves):
            found.setdefault(leaf.name, set()).add(i)
            found.setdefault(leaf.spine, set()).add(i)
        return {name: frozenset(leaves) for name, leaves in found.items()}

    @cached_property
    def labels(self) -> LabelIndex:
        """The nodes by what their labels, features and taints say."""
        return LabelIndex(self.nodes)

    @cached_property
    def nature(self) -> list[int]:
        """Node -> a number shared by nodes with equal amounts and equal failures."""
        ids: dict[tuple[int, int], int] = {}
        return [
            ids.setdefault((empty, node.failure_permille), len(ids))
            for empty, node in zip(self.empty_id, self.nodes, strict=True)
        ]

    @cached_property
    def alike(self) -> list[int]:
        """Node -> a number shared by nodes of one leaf that differ in names and labels alone.

        Who names their GPUs, a label of the model's own, is the same as well.
        """
        ids: dict[Hashable, int] = {}
        return [
            ids.setdefault(
                (
                    leaf,
                    empty,
                    node.bandwidth,
                    node.taints,
                    (node.ready, node.cordoned, node.held_back, node.sealed),
                    node.labels.get(GPU_SOURCE_LABEL),
                ),
                len(ids),
            )
            for leaf, empty, node in zip(self.leaf_of, self.empty_id, self.nodes, strict=True)
        ]

    @cached_property
    def has_taints_to_avoid(self) -> bool:
        """Whether a node has a taint that only advises against it."""
        return any(taint.effect == "PreferNoSchedule" for n in self.nodes for taint in n.taints)

    @cached_property
    def schedulable(self) -> list[bool]:
        """Node -> whether it takes pods at all."""
        return [node.schedulable for node in self.nodes]

    @cached_property
    def gpus_in_leaf(self) -> list[int]:
        """Leaf -> the GPUs of its schedulable nodes."""
        return [
            sum([self.nodes[i].allocatable.gpus for i in nodes if self.schedulable[i]])
            for nodes in self.in_leaf
        ]

    @cached_property
    def default_bandwidth(self) -> int | None:
        """`network.nodeBandwidth` in Mbit/s."""
        stated = self.spec.network.node_bandwidth
        return None if stated is None else mbits(stated)

    @cached_property
    def compares_bandwidth(self) -> bool:
        """Whether nodes are held to a bandwidth: one states its own, or the config says more."""
        network = self.spec.network
        return (
            network.require_stated
            or network.node_bandwidth is not None
            or self.source.states_bandwidth
        )

    @cached_property
    def uplinks(self) -> list[int | None]:
        """Leaf -> its uplink capacity in Mbit/s, `None` where unlimited."""
        default = self.spec.network.uplink_bandwidth
        common = None if default is None else mbits(default)
        return [common if leaf.uplink is None else leaf.uplink for leaf in self.leaves]

    @cached_property
    def adjacent(self) -> list[tuple[int, ...]]:
        """Leaf -> adjacent leaves of the same spine."""
        return adjacent_leaves(self.source, self.spine_leaves, self.spine_of)

    @cached_property
    def branches(self) -> bool:
        """Whether some leaf has more than two neighbours, so that paths may fork."""
        return any(len(near) > 2 for near in self.adjacent)

    @cached_property
    def place_in_spine(self) -> list[int]:
        """Leaf -> its position among the leaves of its spine."""
        place = [0] * len(self.leaves)
        for leaves in self.spine_leaves:
            for position, leaf in enumerate(leaves):
                place[leaf] = position
        return place
