"""The status of a PodGroup of `scheduling.k8s.io`."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import ReportedReason
from fourleaf.k8s_bridge.reporting.pod_groups.conditions import has, replaced
from fourleaf.k8s_bridge.reporting.pod_groups.tally import Tally

SCHEDULED = "PodGroupScheduled"
_ERRORS = frozenset({"Invalid", "Unsupported"})
"""Reasons that lie in the objects, not in the room: the API calls them SchedulerError."""


def native_status(group: Body, tally: Tally, waits: ReportedReason | None, now: float) -> Body:
    """The condition `PodGroupScheduled`, empty where there is nothing to say.

    Once true it stays true, as with kube-scheduler: it says that the gang did start.
    """
    seen = (group.get("status") or {}).get("conditions") or []
    condition: Body = {"type": SCHEDULED}
    if tally.seated >= _least(group):
        condition |= {"status": "True", "reason": "Scheduled", "message": ""}
    elif waits is None or has(seen, SCHEDULED, "True"):
        return {}
    else:
        reason = "SchedulerError" if waits.kind in _ERRORS else "Unschedulable"
        condition |= {"status": "False", "reason": reason, "message": waits.text}
    generation = group["metadata"].get("generation")
    if generation is not None:
        condition["observedGeneration"] = generation
    return {"conditions": replaced(seen, condition, now)}


def _least(group: Body) -> int:
    policy = (group.get("spec") or {}).get("schedulingPolicy") or {}
    return (policy.get("gang") or {}).get("minCount") or 1
