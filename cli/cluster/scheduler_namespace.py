"""Where the scheduler of a cluster is: the namespace that its leader's Lease is in."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.connection import DEFAULT_NAMESPACE, own_namespace, refused

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster

INSTALLED_NAMESPACE = "fourleaf-system"
"""Where the manifests of this repository put the scheduler."""

OPTION = "--scheduler-namespace"
FORBIDDEN = 403
LEFT_SECONDS = 120.0
"""A Lease that was not renewed for so long is that of a scheduler which has gone."""


async def scheduler_namespace(cluster: Cluster, where: str) -> str:
    """The namespace of the scheduler that leads, or led last.

    A Lease that is renewed in one of the usual namespaces wins: elsewhere a tenant may have made
    one, who must not choose the config that tools go by. That of this pod, else
    kube-system, where there is none at all. Who may not list the Leases of all namespaces is
    answered from the usual ones. Raises `BadInput` where one has to be named, or where the cluster
    `where` does not answer.
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
    leading = [_home(one) for one in found if _home(one) in _usual_namespaces() and is_held(one)]
    homes = leading if len(leading) == 1 else sorted(map(_home, found))
    if len(homes) > 1:
        raise bad_input(
            where,
            f"{len(homes)} Leases {LEADER} may be that of the scheduler, in {', '.join(homes)}",
            f"Name its namespace with {OPTION}; delete the Leases of schedulers that are gone.",
        )
    return homes[0] if homes else own_namespace()


def _usual_namespaces() -> tuple[str, ...]:
    return tuple(dict.fromkeys((own_namespace(), INSTALLED_NAMESPACE, DEFAULT_NAMESPACE)))


def _home(lease: Body) -> str:
    return str(lease["metadata"]["namespace"])


def is_held(lease: Body) -> bool:
    """Whether a leader's Lease is held, and was renewed just now."""
    held = bool((lease.get("spec") or {}).get("holderIdentity"))
    return held and abs(time.time() - renewed(lease)) < LEFT_SECONDS


def renewed(lease: Body) -> float:
    """When it was, in seconds since the epoch."""
    return moment_of(str((lease.get("spec") or {}).get("renewTime") or ""))


def moment_of(renewal: str) -> float:
    """The moment of a renewal as the Lease writes it, in seconds since the epoch, 0 for none."""
    try:
        return datetime.fromisoformat(renewal).timestamp()
    except ValueError:
        return 0.0


async def _usual(cluster: Cluster) -> list[Body]:
    """The Leases in the namespaces where a scheduler usually is, as far as they may be read."""
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.k8s_bridge.ledger.names import LEADER

    found = []
    for namespace in _usual_namespaces():
        try:
            found.append(await cluster.get(LEASES, Target(namespace, LEADER)))
        except ClusterError:
            continue
    return found
