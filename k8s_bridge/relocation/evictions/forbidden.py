"""Evictions that the API forbids: told from those that only came at a bad moment."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import (
    BY_ADMISSION,
    Ambiguous,
    ClusterError,
    Conflict,
    NotFound,
    Throttled,
)

BUDGET = "disruption budget"
"""What the message of a 429 names that is no throttling: the budget lets the pod not go."""
UNCOUNTED = "failed sync"
"""What it says as well where the controller of the budget cannot count its pods."""
NO_RIGHT = "cannot create resource"
"""What the message of a 403 names where no role allows it: no policy or webhook has been asked."""


def is_forbidden(error: ClusterError) -> bool:
    """Whether a budget, a right that is missing, a policy or a webhook forbids it."""
    if isinstance(error, Throttled | Ambiguous):
        return BUDGET in str(error)
    return not is_gone(error)


def is_gone(error: ClusterError) -> bool:
    """Whether the pod is gone, or another by now, as the watch will say.

    A webhook may deny an eviction by the same status.
    """
    return isinstance(error, NotFound | Conflict) and BY_ADMISSION not in str(error)
