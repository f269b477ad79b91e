"""Why lower gangs do not make way for one that waits, as the scheduler that leads has said."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from fourleaf.cli.cluster.failed_creates import last_seen

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.protocol import Cluster

REASON = "PreemptionForbidden"
"""The reason of the event that says so, on the first pod that waits of the gang."""
VALID_SECONDS = 900.0
"""How long such an event counts: where it still holds, it is seen anew every ten minutes."""


async def why_none_yields(
    cluster: Cluster, namespace: str, uids: Container[str], now: float
) -> str:
    """The newest of them on a pod of these UIDs; "" where there is none, or none may be read.

    `now`: in seconds since the epoch.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import EVENTS
    from fourleaf.model.readers.objects.timestamps import seconds_of

    try:
        found = await cluster.list(EVENTS, namespace, fields=f"reason={REASON}")
    except ClusterError:
        return ""
    about = [one for one in found.items if (one.get("regarding") or {}).get("uid") in uids]
    if not about:
        return ""
    last = max(about, key=last_seen)
    seen = seconds_of(last_seen(last))
    return str(last.get("note") or "") if seen and now - seen < VALID_SECONDS else ""
