"""Lists of conditions, of which a merge patch replaces the whole."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.runtime.api_text import second


def replaced(seen: Sequence[Body], condition: Body, now: float) -> list[Body]:
    """`seen` with `condition` in the place of the condition of its type, or at the end.

    `lastTransitionTime` moves to `now` only where the condition's status changes.
    """
    old = next((one for one in seen if one.get("type") == condition["type"]), None)
    if old is None:
        return [*seen, {**condition, "lastTransitionTime": second(now)}]
    since = old.get("lastTransitionTime") if old.get("status") == condition["status"] else None
    new = {**old, **condition, "lastTransitionTime": since or second(now)}
    return [new if one is old else one for one in seen]


def has(seen: Sequence[Body], name: str, status: str) -> bool:
    """Whether the condition `name` stands at `status`."""
    return any(one.get("type") == name and one.get("status") == status for one in seen)
