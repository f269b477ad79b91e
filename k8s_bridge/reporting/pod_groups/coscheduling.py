"""The status of a PodGroup of `scheduling.x-k8s.io`."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.pod_groups.tally import Tally


def coscheduling_status(group: Body, tally: Tally) -> Body:
    """Phase and counts. `scheduled` is dropped by servers whose CRD no longer knows it."""
    return {
        "phase": _phase((group.get("spec") or {}).get("minMember") or 1, tally),
        "scheduled": tally.bound,
        "running": tally.running,
        "succeeded": tally.succeeded,
        "failed": tally.failed,
    }


def _phase(least: int, tally: Tally) -> str:
    if tally.succeeded >= least:
        return "Finished"
    if tally.failed and tally.failed + tally.started >= least:
        return "Failed"
    if tally.started >= least:
        return "Running"
    if tally.seated >= least:
        return "Scheduling"
    return "Unknown" if tally.bound else "Pending"
