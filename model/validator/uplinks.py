"""Bandwidth that gangs take from the uplinks of leaves, in Mbit/s (section 5, law 7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from model.config import Spec
from model.fabric import Leaf
from model.gang import Gang, GangKey
from model.quantity import mbits
from model.snapshot import Snapshot
from model.validator.locations import Locations
from model.validator.standing import Standing


def uplink_of(spec: Spec, leaf: Leaf) -> int | None:
    """The uplink of `leaf`: its own, else the configured one, else None (unlimited)."""
    if leaf.uplink is not None:
        return leaf.uplink
    default = spec.network.uplink_bandwidth
    return None if default is None else mbits(default)


def demand(gang: Gang, standing: Standing, locations: Locations) -> dict[int, int]:
    """What the gang takes from each leaf's uplink; empty where it spans none or asks for none.

    Bandwidth times the nodes that `fill` opens for the gang's pods in that leaf.
    """
    if not gang.bandwidth or not standing.spans():
        return {}
    return {
        leaf: gang.bandwidth * locations.room.fill(leaf, part).opened
        for leaf, part in standing.leaves.items()
    }


def running_demand(snapshot: Snapshot, without: Collection[GangKey]) -> Mapping[int, int]:
    """What running gangs that span leaves take from each uplink, those of `without` left out."""
    nodes: dict[GangKey, set[str]] = {}
    bandwidth: dict[GangKey, int] = {}
    leaf_of = snapshot.fabric.leaf_of
    for pod in snapshot.running:
        if pod.gang is None or pod.gang in without or pod.node not in leaf_of:
            continue
        nodes.setdefault(pod.gang, set()).add(pod.node)
        bandwidth[pod.gang] = max(bandwidth.get(pod.gang, 0), pod.bandwidth or 0)
    taken: dict[int, int] = {}
    for key, hosts in nodes.items():
        leaves = [leaf_of[node] for node in hosts]
        if bandwidth[key] and len(set(leaves)) > 1:
            for leaf in leaves:
                taken[leaf] = taken.get(leaf, 0) + bandwidth[key]
    return taken
