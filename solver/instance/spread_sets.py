"""Spread sets: pods that a strategy keeps apart, and how many of them a node or a leaf may hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from fourleaf.model.config.strategies import pods_allowed
from fourleaf.model.gang import Gang, TopologyPolicy, owner_key, set_key
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.weights import milli
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_type import GangType

Crowd = Mapping[int, int]
"""Node or leaf -> pods."""


@dataclass(frozen=True, slots=True)
class SpreadSet:
    """The pods that are counted together: members of a gang, or alike replicas of an owner.

    Each that is one too many on a node, beyond `per_node`, costs `points`; so does each in a leaf
    beyond `per_leaf`, None where any number may be there. `on_node` and `in_leaf` are those that
    are there already.
    """

    key: Hashable
    points: int
    per_node: int
    per_leaf: int | None
    on_node: Crowd = field(default_factory=dict)
    in_leaf: Crowd = field(default_factory=dict)

    def room_on(self, node: int) -> int:
        """How many more a node may hold for nothing."""
        return max(0, self.per_node - self.on_node.get(node, 0))

    def room_in(self, leaf: int) -> int | None:
        """How many more a leaf may hold for nothing."""
        if self.per_leaf is None:
            return None
        return max(0, self.per_leaf - self.in_leaf.get(leaf, 0))


def spread_set(
    snapshot: Snapshot, fabric: FabricIndex, gang: Gang, kind: GangType
) -> SpreadSet | None:
    """The set that `gang` is part of, None where its pods may stand together anywhere."""
    settings = fabric.spec.strategy(gang.strategy)
    points = milli(settings.spread)
    if not points:
        return None
    owner, size = owner_key(gang), gang.size
    replicas = snapshot.replicas.get(owner) if owner else None
    if replicas is not None:
        there, pods = replicas.on_node, replicas.total
    else:
        there, pods = Counter(node for role in gang.roles for _, node in role.bound), size
    per_node = pods_allowed(pods, settings.most_per_node, kind.open_nodes)
    per_leaf: int | None = None
    if replicas is not None or gang.policy is TopologyPolicy.PREFERRED:
        per_leaf = pods_allowed(pods, settings.most_per_leaf, kind.open_leaves)
        per_leaf = per_leaf if per_leaf < pods else None
    if per_node >= pods and per_leaf is None:
        return None
    on_node = {fabric.index[name]: n for name, n in there.items() if name in fabric.index}
    in_leaf: Counter[int] = Counter()
    for node, n in on_node.items():
        in_leaf[fabric.leaf_of[node]] += n
    return SpreadSet(
        set_key(gang),
        points * max(1, gang.weight // size),
        per_node,
        per_leaf,
        on_node,
        in_leaf,
    )


class Crowds:
    """How many pods of each set have been placed, gang by gang."""

    def __init__(self) -> None:
        self._on_node: dict[Hashable, dict[int, int]] = {}
        self._in_leaf: dict[Hashable, dict[int, int]] = {}

    def add(self, one: SpreadSet, nodes: Sequence[int], leaf_of: Sequence[int]) -> int:
        """Take in pods on `nodes`, one after the other; how many of them are one too many there.

        One that is so on its node and in its leaf counts twice.
        """
        on_node = self._on_node.setdefault(one.key, {})
        in_leaf = self._in_leaf.setdefault(one.key, {})
        excess = 0
        for node in nodes:
            leaf = leaf_of[node]
            on_node[node] = on_node.get(node, 0) + 1
            in_leaf[leaf] = in_leaf.get(leaf, 0) + 1
            room = one.room_in(leaf)
            excess += on_node[node] > one.room_on(node)
            excess += room is not None and in_leaf[leaf] > room
        return excess
