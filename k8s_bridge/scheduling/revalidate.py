"""Revalidation: which placements of a plan still hold once the solver has answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from types import MappingProxyType

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.ledger.commit import CommitRequest, Rejected
from fourleaf.k8s_bridge.ledger.free_devices import free_on
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.scheduling.device_claims import DeviceClaims
from fourleaf.k8s_bridge.scheduling.gang_kind import in_itself
from fourleaf.model.devices.held_devices import Grant
from fourleaf.model.devices.shares import shares
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.node import GPU_SOURCE_LABEL, Node
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.resources import Resources, counted, fits, given_back, minus
from fourleaf.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Revalidated:
    """What to commit, and the gangs for which the plan came too late."""

    requests: tuple[CommitRequest, ...]
    late: tuple[Rejected, ...]


Kept = Mapping[GangKey, Sequence[tuple[str, Resources]]]
"""Room that is kept on nodes for members of a gang."""


def revalidate(
    plan: Plan,
    solved: Snapshot,
    cache: ClusterCache,
    ledger: Ledger,
    kept: Kept = MappingProxyType({}),
) -> Revalidated:
    """The placements of `plan`, made for `solved`, that still hold for what is observed now.

    Room that is `kept` is for the gang that it is kept for, which may not start elsewhere: pods may
    have been evicted for that, or be about to be.
    """
    gangs = solved.gangs_by_key
    planned = [(one.gang.namespace, pod) for one in plan.placements for pod, _ in one.pods]
    now = cache.reading_with(planned).snapshot
    present = now.gangs_by_key
    room = _Room(now, kept)
    good: list[tuple[Placement, list[PodSeen]]] = []
    late: list[Rejected] = []
    for placement in plan.placements:
        pods, why = _pods(placement, cache)
        gang = present.get(placement.gang)
        if not why and (gang is None or in_itself(gang) != in_itself(gangs[placement.gang])):
            why = f"gang {placement.gang} has changed meanwhile"
        why = why or _elsewhere(placement, kept)
        why = why or _changed_nodes(placement, solved, now)
        why = why or _unfit_nodes(placement, gang or gangs[placement.gang], now)
        why = why or room.take(placement, gangs[placement.gang])
        if why:
            late.append(Rejected(placement.gang, why, conflict=True))
        else:
            good.append((placement, pods))
    requests, short = _with_devices(good, gangs, cache, ledger)
    return Revalidated(tuple(requests), (*late, *short))


def _pods(placement: Placement, cache: ClusterCache) -> tuple[list[PodSeen], str]:
    """The pods of a placement as they are now, and why they cannot be bound any more."""
    found = []
    for name, node in placement.pods:
        seen = cache.named(placement.gang.namespace, name)
        if seen is None or seen.finished or seen.deleting:
            return [], f"pod {placement.gang.namespace}/{name} has gone meanwhile"
        if seen.node:
            return [], f"pod {seen.pod} was bound to {seen.node} meanwhile"
        if not cache.usable(node):
            return [], f"node {node} is no longer ready"
        found.append(seen)
    return found, ""


def _elsewhere(placement: Placement, kept: Kept) -> str:
    """Which nodes are kept for a gang that was planned for others, or for some of them."""
    seats = Counter(node for node, _ in kept.get(placement.gang, ()))
    if not seats or seats == Counter(node for _, node in placement.pods):
        return ""
    return f"places are kept for it on {', '.join(sorted(seats))} meanwhile"


def _changed_nodes(placement: Placement, solved: Snapshot, now: Snapshot) -> str:
    """Which node of a placement is not what it was planned for: cordoned, relabelled, made anew."""
    for _, name in placement.pods:
        node, planned = now.fabric.nodes.get(name), solved.fabric.nodes[name]
        if node is None or (node != planned and _in_itself(node) != _in_itself(planned)):
            return f"node {name} has changed meanwhile"
    return ""


def _in_itself(node: Node) -> Node:
    """A node without what follows from where the GPUs of others come from.

    All nodes have that label or none, and a device map on one node has all come by it. Whether a
    pod may use the node with it is another question.
    """
    labels = {key: value for key, value in node.labels.items() if key != GPU_SOURCE_LABEL}
    return replace(node, labels=labels)


def _unfit_nodes(placement: Placement, gang: Gang, now: Snapshot) -> str:
    """Which node of a placement its member may not use: a place may have been kept for long."""
    constraints = {pod: role.constraint for role in gang.roles for pod in role.pods}
    for pod, name in placement.pods:
        node, wants = now.fabric.nodes[name], constraints[pod]
        if not (node.schedulable and wants.selects(node) and wants.tolerates(node)):
            return f"node {name} is no longer one that pod {pod} may use"
    return ""


class _Room:
    """What is free on the nodes now; others may have taken some while the solver ran."""

    def __init__(self, snapshot: Snapshot, kept: Kept) -> None:
        self._snapshot = snapshot
        self._free: dict[str, Resources] = {}
        self._kept = kept
        self._seats: dict[str, list[Resources]] = {}
        for seats in kept.values():
            for node, request in seats:
                self._seats.setdefault(node, []).append(request)

    def take(self, placement: Placement, gang: Gang) -> str:
        """Take room for a gang, what is kept for it first; why there is too little of it."""
        for node, request in self._kept.get(gang.key, ()):
            if (free := self._left(node)) is not None:
                self._free[node] = given_back(free, request)
        requests = _requests(gang)
        left: dict[str, Resources] = {}
        for pod, node in placement.pods:
            free = left.get(node) or self._left(node)
            if free is None:
                return f"node {node} is gone"
            if not fits(counted(free), counted(requests[pod])):
                return f"others have taken room on node {node} meanwhile"
            left[node] = minus(counted(free), counted(requests[pod]))
        self._free.update(left)
        return ""

    def _left(self, node: str) -> Resources | None:
        """What is free on a node beside what is kept there, None where there is no such node."""
        if node not in self._free and node in self._snapshot.fabric.nodes:
            free = self._snapshot.free_on(node)
            for request in self._seats.get(node, ()):
                free = minus(free, request)
            self._free[node] = free
        return self._free.get(node)


def _with_devices(
    placed: Sequence[tuple[Placement, list[PodSeen]]],
    gangs: Mapping[GangKey, Gang],
    cache: ClusterCache,
    ledger: Ledger,
) -> tuple[list[CommitRequest], list[Rejected]]:
    """Members with their devices, and the gangs that do not find those that they demand."""
    reading = cache.reading()
    claiming = DeviceClaims(reading, ledger, cache)
    seats = [
        (node, (by_pod[pod].gpus, by_pod[pod].wants))
        for placement, _ in placed
        for by_pod in [_requests(gangs[placement.gang])]
        for pod, node in placement.pods
    ]
    # Where the kubelet chooses, none has numbers.
    counted_only = cache.config.spec.devices.mode == "count"
    nodes = () if counted_only else {node for node, _ in seats}
    dealt = shares(() if counted_only else seats, free_on(nodes, reading.snapshot, ledger, cache))
    devices = repeat(()) if counted_only else iter(dealt.devices)
    requests, late = [], []
    for placement, pods in placed:
        members, why = claiming.claimed(
            placement.gang, _members(placement, gangs[placement.gang], pods, devices)
        )
        short = sorted(dealt.short & {node for _, node in placement.pods})
        if short:
            why = why or f"devices of node {short[0]} have been taken meanwhile"
        if why:
            late.append(Rejected(placement.gang, why, conflict=True))
        else:
            requests.append(CommitRequest(placement.gang, members))
    return requests, late


def _requests(gang: Gang) -> dict[str, Resources]:
    return {pod: role.request for role in gang.roles for pod in role.pods}


def _members(
    placement: Placement,
    gang: Gang,
    pods: Sequence[PodSeen],
    devices: Iterator[tuple[int, ...]],
) -> tuple[Member, ...]:
    requests = _requests(gang)
    return tuple(
        Member(seen.pod, node, next(devices), grant=Grant(requests[pod].gpus, gang.bandwidth))
        for seen, (pod, node) in zip(pods, placement.pods, strict=True)
    )
