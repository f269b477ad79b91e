"""Dry run of an eviction: whether the API would let a pod go, asked until it answers."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target
from fourleaf.k8s_bridge.relocation.evictions.forbidden import is_forbidden, is_gone
from fourleaf.k8s_bridge.runtime.clock import Clock

EVICTION_DRY_RUN_RETRY_SECONDS = 1.0
"""Seconds after which it is asked again where an error ended it that may pass."""


@dataclass(frozen=True, slots=True)
class EvictionDryRun:
    """Asks a gated `cluster`; its caller sets the limit of time."""

    cluster: Cluster
    clock: Clock

    async def refusal(self, pod: Target) -> str:
        """Why the API would not let the pod go, "" where it would."""
        while True:
            try:
                await self.cluster.evict(pod, dry_run=True)
            except (Throttled, Ambiguous) as error:
                if is_forbidden(error):
                    return str(error)
                wait = max(EVICTION_DRY_RUN_RETRY_SECONDS, error.retry_after or 0.0)
                await self.clock.sleep(wait)
            except ClusterError as error:
                return "" if is_gone(error) else str(error)
            else:
                return ""
