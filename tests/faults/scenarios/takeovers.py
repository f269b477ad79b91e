"""Takeovers by a replica whose cache of nodes is old."""

from __future__ import annotations

import time
from contextlib import suppress

from tests.controlplane.api import ApiError
from tests.faults.events import Withheld, events_of
from tests.faults.scenario import Needs, Scenario
from tests.faults.scenarios.nodes import CHANGES, NOTICE
from tests.faults.stage import Stage
from tests.history.check import Expectations
from tests.twins.jobs import job

SIZE = 8
"""Pods of each of the two Jobs that fill the fleet."""
NAMES = ("left", "right")

LOST = 60.0
"""Seconds after which a node that is gone counts as lost, and a repair has begun."""


def stale_nodes(stage: Stage) -> None:
    """The last that the standby hears of a node is that it was gone, closed or smaller.

    By the time that it leads, the node is as it was, and a Job runs there. The other half of the
    fleet is free, so a repair would have somewhere to go.
    """
    leader, standby = stage.lead()
    node = stage.api.get(f"/api/v1/nodes/gpu-{stage.chance.randrange(2 * SIZE)}")
    change = stage.chance.choice(CHANGES)
    change.do(stage, node)
    time.sleep(NOTICE)
    silence = Withheld()
    standby.proxy.tell(events_of("nodes"), silence)
    change.undo(stage, node)
    time.sleep(NOTICE)
    name = _job_on(stage, node["metadata"]["name"])
    before = _places(stage, name)
    leader.process.kill()
    stage.wait(lambda: standby.leads, "the standby leads")
    until = time.monotonic() + (5.0 if stage.brief else LOST)
    while time.monotonic() < until:
        assert _places(stage, name) == before, "pods of a healthy node have gone"
        time.sleep(1.0)
    silence.release()
    stage.runs(stage.submit("next", SIZE))
    sizes = {f"{stage.namespace}/{one}": SIZE for one in NAMES}
    stage.expected = Expectations(3 * SIZE, 3, 2 * SIZE, sizes=sizes)


def _job_on(stage: Stage, node: str) -> str:
    """The Job that has a pod on the node, of two that fill the fleet; the other one is deleted."""
    jobs = f"/apis/batch/v1/namespaces/{stage.namespace}/jobs"
    for name in NAMES:
        body = job(name, SIZE)
        body["spec"]["template"]["spec"] |= {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
        }
        body["spec"]["backoffLimit"] = 100
        stage.api.create(jobs, body)
    for name in NAMES:
        stage.wait(lambda: len(_places(stage, name)) == SIZE, f"all of {name} is bound")  # noqa: B023
    (there,) = (name for name in NAMES if node in _places(stage, name).values())
    (other,) = {*NAMES} - {there}
    stage.api.delete(f"{jobs}/{other}?propagationPolicy=Orphan")
    for pod in stage.pods():
        if _job_of(pod) == other:
            path = f"/api/v1/namespaces/{stage.namespace}/pods/{pod['metadata']['name']}"
            with suppress(ApiError):
                stage.api.delete(f"{path}?gracePeriodSeconds=0")
    return there


def _places(stage: Stage, name: str) -> dict[str, str]:
    """UID -> node of the pods of a Job that are bound and not ending."""
    return {
        pod["metadata"]["uid"]: pod["spec"]["nodeName"]
        for pod in stage.pods()
        if _job_of(pod) == name
        and pod["spec"].get("nodeName")
        and not pod["metadata"].get("deletionTimestamp")
    }


def _job_of(pod: dict[str, object]) -> object:
    metadata = pod["metadata"]
    assert isinstance(metadata, dict)
    return (metadata.get("labels") or {}).get("batch.kubernetes.io/job-name")


SCENARIOS = (
    Scenario(
        "stale-nodes-at-takeover",
        "Who takes over with an old cache of nodes evicts no pod of a node that is well.",
        stale_nodes,
        Needs(controllers=("job",)),
    ),
)
