"""The status of a PodGroup of `scheduling.volcano.sh`."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import ReportedReason
from fourleaf.k8s_bridge.reporting.pod_groups.conditions import has, replaced
from fourleaf.k8s_bridge.reporting.pod_groups.tally import Tally

_READY = "all members that the gang needs have a node"


def volcano_status(group: Body, tally: Tally, waits: ReportedReason | None, now: float) -> Body:
    """Phase, counts, and the conditions `Unschedulable` and `Scheduled`."""
    least = (group.get("spec") or {}).get("minMember") or 1
    seen = (group.get("status") or {}).get("conditions") or []
    conditions = seen
    if tally.seated >= least:
        ready = {"type": "Scheduled", "status": "True", "reason": "Scheduled", "message": _READY}
        conditions = replaced(seen, ready, now)
        if has(seen, "Unschedulable", "True"):
            over = {"type": "Unschedulable", "status": "False", "reason": "Scheduled"}
            conditions = replaced(conditions, {**over, "message": _READY}, now)
    elif waits is not None:
        why = {"reason": waits.kind.value, "message": waits.text}
        conditions = replaced(seen, {"type": "Unschedulable", "status": "True", **why}, now)
        if has(seen, "Scheduled", "True"):
            conditions = replaced(conditions, {"type": "Scheduled", "status": "False", **why}, now)
    return {
        "phase": _phase(least, tally),
        "running": tally.running,
        "succeeded": tally.succeeded,
        "failed": tally.failed,
        "conditions": conditions,
    }


def _phase(least: int, tally: Tally) -> str:
    if tally.pods and tally.succeeded == tally.pods:
        return "Completed"
    if tally.seated >= least:
        return "Running"
    if tally.bound:
        return "Unknown"
    return "Inqueue" if tally.pods >= least else "Pending"
