"""Why pods of an object are missing, as its controller has said in events: a quota, a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster

REASON = "FailedCreate"
"""The reason of the events of kube-controller-manager about pods that it could not create."""


def why_no_pods(reach: ClusterAccess, namespace: str, uid: str) -> str:
    """The newest of them on the object with this UID, "" where there is none, or none to be read.

    Raises `BadInput` without a client of the cluster.
    """
    return reach.ask(lambda cluster: newest_failed_create(cluster, namespace, uid))


async def newest_failed_create(cluster: Cluster, namespace: str, uid: str) -> str:
    """The same, asked of `cluster`."""
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import EVENTS
    from fourleaf.k8s_bridge.runtime.api_text import clipped

    try:
        found = await cluster.list(EVENTS, namespace, fields=f"reason={REASON}")
    except ClusterError:
        return ""
    about = [one for one in found.items if (one.get("regarding") or {}).get("uid") == uid]
    # Who may write events there may write them at any length.
    return clipped(str(max(about, key=last_seen).get("note") or "")) if about else ""


def last_seen(event: Body) -> str:
    """When it was last seen, in UTC, which sorts as text."""
    series = event.get("series") or {}
    last = series.get("lastObservedTime") or event.get("deprecatedLastTimestamp")
    return str(last or event.get("eventTime") or "")
