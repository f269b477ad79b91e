"""Where the scheduler of a cluster is: the namespace that its leader's Lease is in."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.connection import own_namespace, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster

INSTALLED_NAMESPACE = "fourleaf-system"
"""Where the manifests of this repository put the scheduler."""

OPTION = "--scheduler-namespace"
FORBIDDEN = 403
LEFT_SECONDS = 120.0
"""A Lease renewed so long before another one is that of a scheduler which has gone."""


async def scheduler_namespace(cluster: Cluster, where: str) -> str:
    """The namespace of the scheduler that leads, or led last.

    That of this pod, else kube-system, where none ever led. Who may not list the Leases of all
    namespaces is answered from the usual ones. Raises `BadInput` where several hold a Lease, or
    the cluster `where` does not answer.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.ledger.names import LEADER
    from fourleaf.model.problems import BadInput

    try:
        found = (await cluster.list(LEASES, fields=f"metadata.name={LEADER}")).items
    except ClusterError as error:
        if error.status != FORBIDDEN:
            raise BadInput([refused(error, where, "list", LEASES)]) from error
        found = await _usual(cluster)
    homes = sorted(one["metadata"]["namespace"] for one in _newest(found))
    if len(homes) > 1:
        raise bad_input(
            where,
            f"{len(homes)} schedulers lead, by their Leases {LEADER} in {', '.join(homes)}",
            f"Name one with {OPTION}.",
        )
    return homes[0] if homes else own_namespace()


def _newest(leases: Sequence[Body]) -> list[Body]:
    """The Leases that are held, but for those that were left long before another was renewed."""
    held = [one for one in leases if (one.get("spec") or {}).get("holderIdentity")]
    last = max(map(_renewed, held), default=0.0)
    return [one for one in held if last - _renewed(one) < LEFT_SECONDS] or list(leases)


def _renewed(lease: Body) -> float:
    """When it was, in seconds since the epoch."""
    try:
        return datetime.fromisoformat(lease["spec"]["renewTime"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return 0.0


async def _usual(cluster: Cluster) -> list[Body]:
    """The Leases in the namespaces where a scheduler usually is, as far as they may be read."""
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.k8s_bridge.ledger.names import LEADER

    found = []
    for namespace in dict.fromkeys((own_namespace(), INSTALLED_NAMESPACE)):
        try:
            found.append(await cluster.get(LEASES, Target(namespace, LEADER)))
        except ClusterError:
            continue
    return found
