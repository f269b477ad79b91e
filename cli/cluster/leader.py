"""Whether a scheduler leads, where the clocks of two machines may differ."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from fourleaf.cli.cluster.scheduler_namespace import is_held, moment_of

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.k8s_bridge.election.lease import LeaderLease

LOOK_SECONDS = 0.5
"""Seconds from one look at the Lease to the next, while it is watched."""


async def leader_lease(cluster: Cluster, namespace: str) -> Body:
    """The leader's Lease in `namespace`, empty where there is none. Raises `ClusterError`."""
    from fourleaf.k8s_bridge.cluster.errors import NotFound
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.k8s_bridge.ledger.names import LEADER

    try:
        return await cluster.get(LEASES, Target(namespace, LEADER))
    except NotFound:
        return {}


async def leads(cluster: Cluster, namespace: str, lease: Body) -> bool:
    """Whether a scheduler leads by this Lease, give or take what clocks usually differ.

    Raises `ClusterError` where it has to be watched and cannot be read.
    """
    from fourleaf.k8s_bridge.election.lease import read_lease

    if not lease or is_held(lease):
        return bool(lease)
    return await _is_renewed(cluster, namespace, read_lease(lease))


async def is_valid(cluster: Cluster, namespace: str, lease: LeaderLease) -> bool:
    """Whether the Lease holds right now. Raises `ClusterError` as `leads` does."""
    if lease.holder and 0 <= time.time() - moment_of(lease.renewed) <= lease.seconds:
        return True
    return await _is_renewed(cluster, namespace, lease)


async def _is_renewed(cluster: Cluster, namespace: str, lease: LeaderLease) -> bool:
    """Whether a Lease is renewed within the time for which it holds, as candidates watch it."""
    from fourleaf.k8s_bridge.election.lease import read_lease

    if not lease.holder:
        return False
    until = time.monotonic() + lease.seconds
    while time.monotonic() < until:
        await asyncio.sleep(LOOK_SECONDS)
        body = await leader_lease(cluster, namespace)
        now = read_lease(body) if body else None
        if now is None or not now.holder:
            return False
        if now.version != lease.version:
            return True
    return False
