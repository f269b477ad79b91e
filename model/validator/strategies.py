"""What a strategy takes off (section 6): nodes that it would do without, pods that share places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import replace

from fourleaf.model.config.strategies import pods_allowed
from fourleaf.model.gang import Gang, Replicas, TopologyPolicy, alone, owner_key, set_key
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.member_tally import Placed
from fourleaf.model.weights import SCALE, milli


class PlacedBefore:
    """The pods that a plan has placed already, by the set that they are counted in."""

    def __init__(self) -> None:
        self._nodes: dict[Hashable, Counter[str]] = {}
        self._leaves: dict[Hashable, Counter[int]] = {}

    def spread_points(self, snapshot: Snapshot, one: Placed) -> int:
        """What `one` loses for pods that are too many on a node or in a leaf, and take it in."""
        gang = one.gang
        settings = snapshot.config.spec.strategy(gang.strategy)
        replicas, pods, there = _belonging(snapshot, gang)
        if not settings.spread or pods < 2:
            return 0
        leaf_of = snapshot.fabric.leaf_of
        nodes = self._nodes.setdefault(set_key(gang), Counter(there))
        leaves = self._leaves.setdefault(set_key(gang), Counter())
        if not leaves:
            for node, number in there.items():
                if node in leaf_of:
                    leaves[leaf_of[node]] += number
        room = one.locations.room
        per_node = pods_allowed(pods, settings.most_per_node, room.open_nodes)
        per_leaf = pods_allowed(pods, settings.most_per_leaf, room.open_leaves)
        counts_leaves = replicas is not None or gang.policy is TopologyPolicy.PREFERRED
        excess = 0
        for _, node in one.standing.here:
            nodes[node] += 1
            leaves[leaf_of[node]] += 1
            excess += nodes[node] > per_node
            excess += counts_leaves and leaves[leaf_of[node]] > per_leaf
        each = milli(settings.spread) * max(1, gang.weight // gang.size)
        return -excess * each


def by_itself(one: Placed) -> Placed:
    """A gang as relocations place it: whatever replicas there are beside it."""
    return replace(one, gang=alone(one.gang))


def node_share(snapshot: Snapshot, gang: Gang, role: int, name: str) -> int:
    """Compute t of `fewestNodes` in thousandths: what node `name` costs a pod of `role`.

    0 where some that belong together are there already, or where no node holds two of them.
    """
    settings = snapshot.config.spec.strategy(gang.strategy)
    _, pods, there = _belonging(snapshot, gang)
    if not settings.fewest_nodes or pods < 2 or name in there:
        return 0
    request = gang.roles[role].request
    allowed = pods_allowed(pods, settings.most_per_node, len(snapshot.fabric.nodes))
    most = min(allowed, _most(snapshot, request))
    if most < 2:
        return 0
    least = 0 if there else SCALE // most
    return SCALE // max(1, min(most, fits(snapshot.free[name], request))) - least


def _belonging(snapshot: Snapshot, gang: Gang) -> tuple[Replicas | None, int, Mapping[str, int]]:
    """The replicas that `gang` is one of; how many pods belong together; where some are already."""
    owner = owner_key(gang)
    replicas = snapshot.replicas.get(owner) if owner else None
    if replicas is not None:
        return replicas, replicas.total, replicas.on_node
    bound = Counter(node for role in gang.roles for _, node in role.bound)
    return None, gang.size, bound


def _most(snapshot: Snapshot, request: Resources) -> int:
    """How many such pods the emptied node holds that holds most of them."""
    return max((fits(offer, request) for offer in snapshot.fabric.offers), default=0)
