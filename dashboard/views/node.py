"""One node: its health, its devices with their links, and who is on it."""

from __future__ import annotations

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.fabric import STATES, state_of
from fourleaf.dashboard.views.holders import held_by
from fourleaf.model.resources import free_devices

MOST_PODS = 500
"""Pods that are listed."""


class DeviceView(View):
    """A device. `memory` in MiB, 0 where unknown; `holder` is "" where it is free."""

    number: int
    product: str
    memory: int
    holder: str


class LinkView(View):
    """A link between two devices, in MB/s."""

    first: int
    second: int
    bandwidth: int


class OnNode(View):
    """A pod on the node; `gang` is "" where it belongs to none."""

    namespace: str
    name: str
    gang: str
    gpus: int
    ours: bool


class NodeView(View):
    """A node. `bandwidth` in Mbit/s; CPU in millicores, memory in bytes, None where not stated.

    `failures` is the decayed failure rate, in thousandths.
    """

    version: int
    name: str
    leaf: str
    spine: str
    state: str
    means: str
    held_back: str
    product: str
    gpus: int
    free: int
    cpu: int | None
    free_cpu: int | None
    memory: int | None
    free_memory: int | None
    bandwidth: int | None
    failures: int
    taints: tuple[str, ...]
    devices: tuple[DeviceView, ...]
    links: tuple[LinkView, ...]
    pods: tuple[OnNode, ...]
    more_pods: int


def node_view(moment: ClusterMoment, name: str) -> NodeView | None:
    """The node `name`, None where there is none."""
    snapshot = moment.snapshot
    node = snapshot.fabric.nodes.get(name)
    if node is None:
        return None
    pods = [pod for pod in snapshot.running if pod.node == name]
    held = held_by(node, pods)
    layout = free_devices(node.allocatable).layout
    free, state = snapshot.free[name], state_of(node, pods)
    return NodeView(
        version=moment.version,
        name=name,
        leaf=node.leaf,
        spine=node.spine,
        state=state,
        means=STATES[state],
        held_back=node.held_back,
        product=node.product,
        gpus=node.allocatable.gpus,
        free=list(held.values()).count(None),
        cpu=node.allocatable.cpu,
        free_cpu=free.cpu,
        memory=node.allocatable.memory,
        free_memory=free.memory,
        bandwidth=node.bandwidth,
        failures=node.failure_permille,
        taints=tuple(f"{one.key}={one.value}:{one.effect}" for one in node.taints),
        devices=tuple(
            DeviceView(
                number=one.number,
                product=one.product or node.product,
                memory=one.memory,
                holder=str(held.get(one.number) or ""),
            )
            for one in layout.devices
        ),
        links=tuple(LinkView(first=a, second=b, bandwidth=speed) for a, b, speed in layout.links),
        pods=tuple(
            OnNode(
                namespace=pod.namespace,
                name=pod.name,
                gang=str(pod.gang) if pod.ours and pod.gang else "",
                gpus=pod.request.gpus,
                ours=pod.ours,
            )
            for pod in pods[:MOST_PODS]
        ),
        more_pods=max(0, len(pods) - MOST_PODS),
    )
