"""Small clusters made by hand, as pages look at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot

GIB = 2**30


def node(name: str, leaf: str = "l0", spine: str = "s0", gpus: int = 8, **more: Any) -> Node:
    """A node with room for pods."""
    offer = Resources(gpus=gpus, cpu=64000, memory=512 * GIB, pods=110)
    return Node(name, leaf, spine, offer, **more)


def runs(
    name: str, where: str, gpus: int, gang: str = "", devices: tuple[int, ...] = ()
) -> RunningPod:
    """A pod of `ml` on a node, of a gang of ours where one is named."""
    key = GangKey("ml", gang) if gang else None
    return RunningPod(
        "ml", name, where, Resources(gpus=gpus), key, ours=bool(gang), devices=devices
    )


def moment(
    leaves: Sequence[Leaf],
    running: Sequence[RunningPod] = (),
    gangs: Sequence[Gang] = (),
    version: int = 1,
    **fabric: Any,
) -> ClusterMoment:
    """A look at a cluster of which nobody stands."""
    snapshot = Snapshot(Fabric(tuple(leaves), **fabric), tuple(running), tuple(gangs), now=1000.0)
    return ClusterMoment(version, snapshot, (), {}, lambda *_: (), lambda _: ())
