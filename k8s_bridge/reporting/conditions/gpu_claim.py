"""What the status of a GpuClaim says: whether it makes sense, and who has devices by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fourleaf.k8s_bridge.cluster.kinds import GPU_CLAIMS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts
from fourleaf.k8s_bridge.reporting.pod_groups.conditions import replaced
from fourleaf.k8s_bridge.reporting.recorder.queue_items import StatusPatch, target_of
from fourleaf.model.readers.pods.gpu_claims import fault_of
from fourleaf.model.snapshot import RunningPod

LISTED_PODS = 1024
"""Pods that a status lists by name; it counts all."""


def what_of_claims(facts: CycleFacts) -> list[StatusPatch]:
    """The statuses that differ from what is seen."""
    claims = facts.objects.get(GPU_CLAIMS, {})
    if not claims:
        return []
    users: dict[tuple[str, str], list[RunningPod]] = defaultdict(list)
    for pod in facts.snapshot.running:
        if pod.claim:
            users[pod.namespace, pod.claim].append(pod)
    outgoing = []
    for where, body in claims.items():
        status = _status(body, users.get(where, ()), facts.now)
        seen = body.get("status") or {}
        if any(seen.get(key) != value for key, value in status.items()):
            outgoing.append(StatusPatch(GPU_CLAIMS, target_of(body), status))
    return outgoing


def _status(body: Body, users: Sequence[RunningPod], now: float) -> Body:
    listed = sorted(users, key=lambda pod: pod.name)[:LISTED_PODS]
    seen = (body.get("status") or {}).get("conditions") or []
    fault = fault_of(body)
    valid = {
        "type": "Valid",
        "status": "False" if fault else "True",
        "reason": "Invalid" if fault else "Accepted",
        "message": fault,
        "observedGeneration": body["metadata"].get("generation", 0),
    }
    return {
        "allocated": len(users),
        "allocations": [
            {"pod": pod.name, "node": pod.node, "devices": list(pod.devices)} for pod in listed
        ],
        "conditions": replaced(seen, valid, now),
    }
