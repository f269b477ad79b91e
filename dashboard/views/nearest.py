"""Where a gang that waits comes closest to a place: those leaves on the map, and who holds them."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.gang import WhyView, why_view
from fourleaf.dashboard.views.queue import QueueEntry
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import NearMiss

MOST_HOLDERS = 12
"""Holders that are named; of the others it is said how many there are."""
MOST_NODES_NAMED = 8
"""Nodes that are named of each holder."""


class NearLeaf(View):
    """A leaf of the nearest miss, or a spine. `keys` are its leaves on the map."""

    name: str
    keys: tuple[str, ...]
    free: int
    needed: int
    unit: str


class NearHolder(View):
    """What holds GPUs of the leaves that are short: a gang, or a pod alone where `gang` is false.

    `ends` in seconds since the epoch, None where not stated. `planned`: it does not run yet, but
    comes before in the plan and is placed there.
    """

    namespace: str
    name: str
    gang: bool
    gpus: int
    nodes: tuple[str, ...]
    more_nodes: int
    ends: float | None
    planned: bool


class NearestView(View):
    """A gang that waits, on the map, as planning everything anew has it.

    `goal` are the leaves where that would place it, none where it waits; then `why` has the reason
    and `near` the leaves that come closest, if any do. `status` is that of the plan.
    """

    now: float
    status: str
    entry: QueueEntry
    goal: tuple[str, ...]
    why: WhyView | None
    near: tuple[NearLeaf, ...]
    holders: tuple[NearHolder, ...]
    more_holders: int


def nearest_view(moment: ClusterMoment, entry: QueueEntry, plan: Plan) -> NearestView:
    """What `plan`, made of `moment`, says of the gang `entry`."""
    fabric = moment.snapshot.fabric
    key = GangKey(entry.namespace, entry.name)
    waits = next((one for one in plan.waiting if one.gang == key), None)
    place = next((one for one in plan.placements if one.gang == key), None)
    taken = {fabric.leaf_of[node] for _, node in place.pods} if place else set()
    near = waits.reason.near if waits else ()
    short = [leaf for miss in near if miss.free < miss.needed for leaf in _leaves(fabric, miss)]
    holders = _holders(moment, short, plan)
    return NearestView(
        now=moment.snapshot.now,
        status=plan.status.value,
        entry=entry,
        goal=tuple(_key(fabric.leaves[leaf]) for leaf in sorted(taken)),
        why=why_view(waits) if waits else None,
        near=tuple(
            NearLeaf(
                name=miss.leaf,
                keys=tuple(map(_key, _leaves(fabric, miss))),
                free=miss.free,
                needed=miss.needed,
                unit=miss.unit,
            )
            for miss in near
        ),
        holders=tuple(holders[:MOST_HOLDERS]),
        more_holders=max(0, len(holders) - MOST_HOLDERS),
    )


def _leaves(fabric: Fabric, miss: NearMiss) -> list[Leaf]:
    """The leaves of that name, else those of the spine of that name."""
    leaves = [leaf for leaf in fabric.leaves if leaf.name == miss.leaf]
    return leaves or [leaf for leaf in fabric.leaves if leaf.spine == miss.leaf]


def _key(leaf: Leaf) -> str:
    return f"{leaf.spine}/{leaf.name}"


def _holders(moment: ClusterMoment, leaves: Sequence[Leaf], plan: Plan) -> list[NearHolder]:
    """Who holds GPUs in `leaves`, or is placed there by `plan`; who holds most first."""
    nodes = {node.name for leaf in leaves for node in leaf.nodes}
    found: dict[tuple[GangKey, bool, bool], list[tuple[str, int, float | None]]] = {}
    for pod in moment.snapshot.running:
        if pod.node in nodes and pod.request.gpus:
            key = pod.gang or GangKey(pod.namespace, pod.name)
            held = pod.node, pod.request.gpus, pod.ends
            found.setdefault((key, pod.gang is not None, False), []).append(held)
    gangs = moment.snapshot.gangs_by_key
    for one in plan.placements:
        for pod_name, node in one.pods:
            gpus = gangs[one.gang].requests[pod_name].gpus
            if node in nodes and gpus:
                found.setdefault((one.gang, True, True), []).append((node, gpus, None))
    holders = []
    for (key, is_gang, planned), pods in found.items():
        on = list(dict.fromkeys(node for node, _, _ in pods))
        ends = [end for _, _, end in pods if end is not None]
        holders.append(
            NearHolder(
                namespace=key.namespace,
                name=key.name,
                gang=is_gang,
                gpus=sum(gpus for _, gpus, _ in pods),
                nodes=tuple(on[:MOST_NODES_NAMED]),
                more_nodes=max(0, len(on) - MOST_NODES_NAMED),
                ends=max(ends) if len(ends) == len(pods) else None,
                planned=planned,
            )
        )
    return sorted(holders, key=lambda one: (-one.gpus, one.namespace, one.name))
