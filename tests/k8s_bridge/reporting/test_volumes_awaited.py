"""Volumes that are awaited: told on the first pod, and on the Job that made it."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import JOBS
from fourleaf.k8s_bridge.reporting.conditions.pod_scheduled import what_gang_awaits
from fourleaf.k8s_bridge.reporting.events.waiting_gangs import Makers
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event
from fourleaf.model.gang import GangKey
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests.model.readers.made import job, owned, pod


def test_the_job_is_told_as_well() -> None:
    """Two members of one Job: one event on the first pod, one on the Job, patches on both."""
    made: Any = job("train")
    made["metadata"]["uid"] = "u"
    members: list[Any] = [owned(pod(f"train-{i}"), "Job", "train") for i in range(2)]
    for body in members:
        body["metadata"] |= {"uid": body["metadata"]["name"], "resourceVersion": "1"}
        body["metadata"]["ownerReferences"][0]["uid"] = "u"
    makers = Makers({JOBS: {("ml", "train"): made}})
    why = Reason(ReasonKind.VOLUMES_AWAITED, "no volume yet")
    told = what_gang_awaits(GangKey("ml", "train"), members, makers, why, 0.0)
    events = [one for one in told if isinstance(one, Event)]
    assert [(one.regarding.kind.name, one.regarding.name) for one in events] == [
        ("Pod", "train-0"),
        ("Job", "train"),
    ]
    assert len(told) == 4
