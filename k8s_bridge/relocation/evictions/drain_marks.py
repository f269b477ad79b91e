"""Marks of nodes that are to be emptied, and what may come of that."""

from __future__ import annotations

from collections.abc import Iterator

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Body

DRAIN = "topology.scheduler/drain"
"""Annotation of a node that is to be emptied; `true`."""
END_JOBS = "topology.scheduler/end-jobs"
"""Annotation of such a node: Jobs with pods there may end of it; `true`."""


def draining(cache: ClusterCache) -> frozenset[str]:
    """The nodes that are to be emptied."""
    return frozenset(name for name, said in _annotations(cache) if said.get(DRAIN) == "true")


def ending_jobs(cache: ClusterCache) -> frozenset[str]:
    """Those of them that Jobs with pods there need not outlast."""
    return frozenset(
        name
        for name, said in _annotations(cache)
        if said.get(DRAIN) == said.get(END_JOBS) == "true"
    )


def _annotations(cache: ClusterCache) -> Iterator[tuple[str, Body]]:
    for (_, name), body in cache.objects.get(NODES, {}).items():
        yield name, body["metadata"].get("annotations") or {}
