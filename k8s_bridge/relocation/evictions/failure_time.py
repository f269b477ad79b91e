"""When a lost pod of a Job has failed: at the last heartbeat of its node, not at its eviction.

The Job controller lets 10 s pass between a failure and the next pod, and twice as many each time.
Where no container says when it ended, a pod has failed when its condition `Ready` became false,
and else when it was evicted (`getFinishedTime` in `pkg/controller/job/backoff_utils.go`). The node
controller writes that condition for a node that is silent, but only after 40 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.relocation.records import Leaver
from fourleaf.k8s_bridge.runtime.api_text import second

_READY = "Ready"
NODE_SILENT = "NodeSilent"
"""The reason of the condition."""


@dataclass(frozen=True, slots=True)
class FailureTimes:
    """Writes them to pods that have been evicted. `cluster` is gated."""

    cluster: Cluster
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    async def tell(self, leaver: Leaver, since: float) -> None:
        """Say that a pod is not ready `since` its node was heard last, in seconds since the epoch.

        Where it cannot be said, the Job controller counts from the eviction.
        """
        at = Target(leaver.pod.namespace, leaver.pod.name)
        try:
            body = await self.cluster.get(PODS, at)
            metadata = body["metadata"]
            if metadata["uid"] != leaver.pod.uid or not is_of_a_job(body):
                return
            conditions = list(_conditions(body, leaver.node, since))
            version = Target(at.namespace, at.name, leaver.pod.uid, metadata["resourceVersion"])
            await self.cluster.patch(
                PODS, version, {"status": {"conditions": conditions}}, "status"
            )
        except (NotFound, Conflict):
            # It is gone, or a controller has just written to it.
            return
        except ClusterError as error:
            self._log.warning("failure_time_not_told", pod=str(leaver.pod), why=str(error))


def is_of_a_job(pod: Body) -> bool:
    """Whether the Job controller makes it anew."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("kind") == "Job" for owner in owners)


def _conditions(pod: Body, node: str, since: float) -> Iterator[Body]:
    """Its conditions, of which `Ready` is false since then if it was not so before."""
    for one in (pod.get("status") or {}).get("conditions") or ():
        if one.get("type") != _READY or one.get("status") == "False":
            yield one
            continue
        yield one | {
            "status": "False",
            "reason": NODE_SILENT,
            "message": f"node {node} has sent no heartbeat since {second(since)}",
            "lastTransitionTime": second(since),
        }
