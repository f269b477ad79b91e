"""Gangs of a Job of which the leader hears late."""

from __future__ import annotations

import time
from typing import Any

from tests.faults.asked import lists
from tests.faults.events import Withheld, events_of
from tests.faults.faults import BROKEN
from tests.faults.gangs import Gang
from tests.faults.rules import ALWAYS
from tests.faults.scenario import Scenario
from tests.faults.scenarios.meddling import alone
from tests.faults.stage import Stage
from tests.history.check import Expectations
from tests.twins.jobs import job


def owner_late(stage: Stage) -> None:
    """All pods of a Job are there before the leader hears of it; a bare gang comes meanwhile."""
    leader = alone(stage)
    silence = Withheld()
    leader.proxy.tell(events_of("jobs"), silence)
    broken = leader.proxy.strike(lists("jobs"), BROKEN, times=ALWAYS)
    gang = Gang(stage.namespace, "late", stage.chance.choice((2, 4, 8)))
    wanted = job(gang.name, gang.pods)
    wanted["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    owner = stage.api.create(f"/apis/batch/v1/namespaces/{stage.namespace}/jobs", wanted)
    for i in stage.chance.sample(range(gang.pods), gang.pods):
        body = _owned(gang.body(i), owner)
        stage.api.create(f"/api/v1/namespaces/{stage.namespace}/pods", body)
    other = stage.submit("other", stage.chance.choice((1, 2, 4)))
    stage.runs(other)
    until = time.monotonic() + stage.chance.uniform(1.0, 15.0)
    while time.monotonic() < until:
        assert not stage.bound(gang), f"{stage.bound(gang)} of {gang.pods} pods did not wait"
        time.sleep(0.5)
    silence.release()
    leader.proxy.remove(broken)
    stage.runs(gang)
    stage.gangs.append(gang)
    size = gang.pods + other.pods
    stage.expected = Expectations(size, 2, size, sizes={f"{stage.namespace}/late": gang.pods})


def _owned(body: dict[str, Any], owner: dict[str, Any]) -> dict[str, Any]:
    """The pod as the Job's controller makes it, which says nothing of a gang."""
    reference = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    name = body["metadata"]["name"]
    return {**body, "metadata": {"name": name, "ownerReferences": [reference]}}


SCENARIOS = (
    Scenario(
        "owner-late",
        "No pod of a Job is bound before the leader has heard of the Job; then all are, together.",
        owner_late,
    ),
)
