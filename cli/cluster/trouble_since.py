"""Since when nodes have had the trouble for which gangs on them are repaired or drained."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.protocol import Body

DRAIN = "topology.scheduler/drain"
"""The annotation that has a node emptied; cordoned alone, pods stay there as they should."""
BEFORE_SECONDS = 60.0
"""So long before the API has a node for not ready the scheduler may have taken it for dead."""


def trouble_since(
    objects: Iterable[Body], nodes: Collection[str], silent: Mapping[str, float], now: float
) -> float | None:
    """When the first of `nodes` got into trouble, -inf where that is unknown, None where none is.

    In seconds since the epoch, from `objects` as they were at `now`. `silent`: seconds since the
    last heartbeat of nodes. A node that is only cordoned is in none unless it is drained.
    """
    bodies: dict[str, Any] = {
        one["metadata"]["name"]: one
        for one in objects
        if one.get("kind") == "Node" and one["metadata"]["name"] in nodes
    }
    moments = (_since(bodies.get(name), silent.get(name), now) for name in nodes)
    return min((one for one in moments if one is not None), default=None)


def _since(body: Body | None, silent: float | None, now: float) -> float | None:
    from fourleaf.model.readers.nodes.nodes import ready_status
    from fourleaf.model.readers.objects.timestamps import seconds_of

    if body is None:
        return -inf
    if (body["metadata"].get("annotations") or {}).get(DRAIN) == "true":
        return -inf
    if ready_status(body) != "True":
        conditions = body["status"]["conditions"]
        ready = next(one for one in conditions if one.get("type") == "Ready")
        since = seconds_of(str(ready.get("lastTransitionTime")))
        return -inf if since is None else since - BEFORE_SECONDS
    return None if silent is None else now - silent
