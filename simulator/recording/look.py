"""A look at a cluster: its leaves, nodes and gangs at one moment, as far as a recording tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.simulator.recording.lines import (
    MOST_SECONDS,
    Amounts,
    GangShape,
    LeavesLine,
    NodeLine,
    RecordedState,
    RoleShape,
    bounded,
)

Phases = Mapping[tuple[str, str], str]
"""The phase of each pod that is still there, by namespace and name."""


@dataclass(frozen=True, slots=True)
class SeenGang:
    """A gang as it was seen. `seats` are (pod, node) of those that run; it waits without any.

    `started` is when it was bound, where that is known; times in seconds since the epoch.
    """

    shape: GangShape
    created: float
    seats: tuple[tuple[str, str], ...] = ()
    started: float | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What was there at `at`, on `fabric`."""

    at: float
    fabric: Fabric
    leaves: LeavesLine
    nodes: Mapping[str, tuple[NodeLine, RecordedState]]
    gangs: Mapping[GangKey, SeenGang]


def look_at(snapshot: Snapshot, standing: Sequence[StandingGang], last: Look | None = None) -> Look:
    """The look at `snapshot`; `standing` are all gangs that run, and `last` the look before.

    A pod of another scheduler counts as a gang where it holds GPUs: alone, or with those that
    start with it.
    """
    at = round(snapshot.now, 3)
    gangs: dict[GangKey, SeenGang] = {}
    for gang in snapshot.gangs:
        gangs[gang.key] = SeenGang(_shape(gang), _created(gang, at))
    for one in standing:
        seats = tuple(seat for role in one.gang.roles for seat in role.bound)
        created = _created(one.gang, at)
        gangs[one.gang.key] = SeenGang(_shape(one.gang), created, seats, one.started or None)
    gangs.update(_strangers(snapshot, at, gangs))
    fabric = snapshot.fabric
    if last is not None and last.fabric is fabric:
        return Look(at, fabric, last.leaves, last.nodes, gangs)
    return Look(at, fabric, _leaves(fabric, at), _nodes(fabric, at), gangs)


def _strangers(
    snapshot: Snapshot, at: float, known: Mapping[GangKey, SeenGang]
) -> dict[GangKey, SeenGang]:
    pods: dict[GangKey, list[RunningPod]] = defaultdict(list)
    for pod in snapshot.running:
        if not pod.ours and pod.request.gpus:
            pods[pod.gang or GangKey(pod.namespace, f"pod/{pod.name}")].append(pod)
    return {key: _of_pods(found, at) for key, found in pods.items() if key not in known}


def _of_pods(pods: Sequence[RunningPod], at: float) -> SeenGang:
    roles: dict[Resources, list[RunningPod]] = defaultdict(list)
    for pod in pods:
        roles[pod.request].append(pod)
    shape = GangShape(
        roles=tuple(
            RoleShape(pods=len(found), request=Amounts.of(request))
            for request, found in roles.items()
        ),
        priority=max(pod.priority for pod in pods),
        bandwidth=None if pods[0].bandwidth is None else bounded(pods[0].bandwidth),
    )
    return SeenGang(shape, at, tuple((pod.name, pod.node) for pod in pods))


def _created(gang: Gang, at: float) -> float:
    return max(0.0, min(gang.created, at))


def _shape(gang: Gang) -> GangShape:
    return GangShape(
        roles=tuple(
            RoleShape(pods=role.size, request=Amounts.of(role.request), constraint=role.constraint)
            for role in gang.roles
            if role.size
        ),
        priority=gang.priority,
        strategy=gang.strategy,
        policy=gang.policy,
        preferred_domain=gang.preferred_domain,
        latency_sensitive=gang.latency_sensitive,
        bandwidth=None if gang.bandwidth is None else bounded(gang.bandwidth),
        one_per_node=gang.one_per_node,
        preempts=gang.preempts,
        duration=min(gang.duration, MOST_SECONDS) if gang.duration else None,
    )


def _leaves(fabric: Fabric, at: float) -> LeavesLine:
    leaves = tuple(
        (leaf.name, leaf.spine, None if leaf.uplink is None else bounded(leaf.uplink))
        for leaf in fabric.leaves
    )
    return LeavesLine(
        at=at,
        adjacency=fabric.adjacency,
        edges=tuple(sorted(fabric.edges)),
        unlabelled=tuple(sorted(fabric.unlabelled)),
        leaves=leaves,
    )


def _nodes(fabric: Fabric, at: float) -> dict[str, tuple[NodeLine, RecordedState]]:
    return {name: (_node(node, at), _state(node)) for name, node in fabric.nodes.items()}


def _node(node: Node, at: float) -> NodeLine:
    return NodeLine(
        at=at,
        name=node.name,
        leaf=node.leaf,
        offer=Amounts.of(node.allocatable),
        product=node.product,
        bandwidth=None if node.bandwidth is None else bounded(node.bandwidth),
        labels=dict(node.labels),
        taints=node.taints,
    )


def _state(node: Node) -> RecordedState:
    if not node.ready or node.held_back:
        return RecordedState.NOT_READY
    return RecordedState.CORDONED if node.cordoned else RecordedState.READY
