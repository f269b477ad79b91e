"""When gangs were made and bound, as their pods say."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.dashboard.sources.source import Body
from fourleaf.model.readers.objects.timestamps import pod_bound_at, seconds_of


def bound_at(pods: Iterable[Body | None]) -> float | None:
    """When the last of `pods` was bound (seconds since the epoch); None where one does not say."""
    moments = [pod_bound_at(pod or {}) for pod in pods]
    known = [one for one in moments if one is not None]
    return max(known) if known and len(known) == len(moments) else None


def made_at(pods: Iterable[Body | None]) -> float | None:
    """When the first of `pods` was created, None where none says."""
    texts = (((pod or {}).get("metadata") or {}).get("creationTimestamp") for pod in pods)
    known = [seconds_of(one) for one in texts if isinstance(one, str)]
    return min((one for one in known if one is not None), default=None)
