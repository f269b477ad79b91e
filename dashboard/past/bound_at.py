"""When gangs were made and bound, as their pods say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fourleaf.dashboard.sources.source import Body
from fourleaf.model.readers.objects.timestamps import seconds_of


def bound_at(pods: Iterable[Body | None]) -> float | None:
    """When the last of `pods` was bound, in seconds since the epoch; None where one does not say.

    That is the transition of its condition `PodScheduled`, else when its kubelet took it.
    """
    moments = [_moment(pod) for pod in pods]
    known = [one for one in moments if one is not None]
    return max(known) if known and len(known) == len(moments) else None


def made_at(pods: Iterable[Body | None]) -> float | None:
    """When the first of `pods` was created, None where none says."""
    texts = (((pod or {}).get("metadata") or {}).get("creationTimestamp") for pod in pods)
    known = [seconds_of(one) for one in texts if isinstance(one, str)]
    return min((one for one in known if one is not None), default=None)


def _moment(pod: Body | None) -> float | None:
    status = (pod or {}).get("status")
    if not isinstance(status, dict):
        return None
    conditions: Any = status.get("conditions")
    for one in conditions if isinstance(conditions, list) else ():
        is_it = isinstance(one, dict) and one.get("type") == "PodScheduled"
        if is_it and one.get("status") == "True" and one.get("lastTransitionTime"):
            return seconds_of(str(one["lastTransitionTime"]))
    started = status.get("startTime")
    return seconds_of(started) if isinstance(started, str) else None
