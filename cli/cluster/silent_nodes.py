"""Nodes whose kubelets are silent, long before the API says that they are not ready.

The node controller says so 40 to 50 s after the last heartbeat; the scheduler, which probes hosts
as well, takes a node for dead from 20 s on. In between only the Leases of kubelets say anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.node_health.general_silence import are_most
from fourleaf.k8s_bridge.node_health.judge import SUSPECT_SECONDS

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.model.fabric import Fabric

LATE_CLOCK_SECONDS = 120.0
"""Seconds of silence that the node controller would not have missed: longer is a late clock."""
AHEAD_SHARE = 0.25
"""Share of all kubelets whose clocks may be ahead without making the others seem silent."""


async def renewals(cluster: Cluster) -> dict[str, float]:
    """When kubelets renewed their Leases, in seconds since the epoch, by the clocks of nodes.

    None where these may not be read: then only what the API says of nodes is told.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.node_health.heartbeats import NAMESPACE

    try:
        return _renewed((await cluster.list(LEASES, NAMESPACE, cached=True)).items)
    except ClusterError:
        return {}


def silences(renewed: Mapping[str, float], at_least: float = 0.0) -> dict[str, float]:
    """Who is silent, and for how many seconds, where kubelets say when they renewed their Leases.

    One is measured against others, not against our own clock, which may differ: those who were
    heard last, except for clocks that are ahead. It is `at_least` that late, in seconds since the
    epoch, which tells a silence of most.
    """
    if not renewed:
        return {}
    newest = sorted(renewed.values(), reverse=True)
    now = max(newest[int(AHEAD_SHARE * len(newest))], at_least)
    return {
        node: now - at
        for node, at in renewed.items()
        if SUSPECT_SECONDS < now - at <= LATE_CLOCK_SECONDS
    }


def most_away(fabric: Fabric, silent: Mapping[str, float]) -> tuple[int, int] | None:
    """How many of how many nodes are `silent` or not ready, where these are most; None if not.

    Where they fell silent together, the scheduler takes none of them for dead for that.
    """
    nodes = fabric.nodes.values()
    away = sum(not node.ready or node.name in silent for node in nodes)
    return (away, len(nodes)) if are_most(away, len(nodes)) else None


def _renewed(leases: Iterable[Body]) -> dict[str, float]:
    """When each was renewed, in seconds since the epoch, as far as that makes sense."""
    found = {}
    for lease in leases:
        try:
            at = datetime.fromisoformat(lease["spec"]["renewTime"])
        except (KeyError, TypeError, ValueError):
            continue
        if at.tzinfo is not None:
            found[str(lease["metadata"]["name"])] = at.timestamp()
    return found
