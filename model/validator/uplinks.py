"""Bandwidth that gangs take from the uplinks of leaves, in Mbit/s (section 5, law 7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fourleaf.model.config.spec import Spec
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import GangKey
from fourleaf.model.quantity import mbits
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.member_tally import Placed


def uplink_of(spec: Spec, leaf: Leaf) -> int | None:
    """Tell the uplink of `leaf`: its own, else the configured one, else None (unlimited)."""
    if leaf.uplink is not None:
        return leaf.uplink
    default = spec.network.uplink_bandwidth
    return None if default is None else mbits(default)


def demand(one: Placed) -> dict[int, int]:
    """Tell what the gang takes from each leaf's uplink; empty where it spans none or asks for none.

    Bandwidth times the nodes that `fill` opens for the gang's pods in that leaf.
    """
    bandwidth, standing = one.gang.bandwidth, one.standing
    if not bandwidth or not standing.spans():
        return {}
    return {
        leaf: bandwidth * one.locations.room.fill(leaf, part).opened
        for leaf, part in standing.leaves.items()
    }


def running_demand(snapshot: Snapshot, without: Collection[GangKey]) -> Mapping[int, int]:
    """Add up what running gangs that span leaves take; those of `without` left out."""
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
