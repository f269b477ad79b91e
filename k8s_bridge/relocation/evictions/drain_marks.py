"""Marks of nodes that are to be emptied, and what may come of that."""

from __future__ import annotations

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.model.readers.objects.annotations import DRAIN

END_JOBS = "topology.scheduler/end-jobs"
"""Annotation of such a node: Jobs with pods there may end of it; `true`."""


def draining(cache: ClusterCache) -> frozenset[str]:
    """The nodes that are to be emptied."""
    return frozenset(
        name for name, seen in cache.nodes.items() if seen.marks and seen.marks.get(DRAIN) == "true"
    )


def ending_jobs(cache: ClusterCache) -> frozenset[str]:
    """Those of them that Jobs with pods there need not outlast."""
    return frozenset(
        name
        for name, seen in cache.nodes.items()
        if seen.marks.get(DRAIN) == seen.marks.get(END_JOBS) == "true"
    )
