"""Gangs that make way for a higher one while their evictions fail."""

from __future__ import annotations

from contextlib import suppress

from tests.controlplane.api import ApiError
from tests.faults.asked import Asked, evictions
from tests.faults.faults import BUSY, DropAfter, DropBefore, Pass
from tests.faults.gangs import Gang
from tests.faults.scenario import Scenario
from tests.faults.stage import Stage
from tests.history.check import Expectations

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
PRIORITIES = {"low": 0, "high": 1000}
SIZE = 8
"""Pods of each of the two gangs that fill the fleet."""


def preempted(stage: Stage) -> None:
    """The k-th eviction of a preemption fails in some way, or its leader is killed at it."""
    for name, value in PRIORITIES.items():
        with suppress(ApiError):
            stage.api.create(CLASSES, {"metadata": {"name": name}, "value": value})
    leader, _ = stage.lead()
    low = [_submit(stage, f"low-{i}", SIZE, "low") for i in range(2)]
    for gang in low:
        stage.runs(gang)

    def kill(_: Asked) -> None:
        leader.process.kill()

    fault = stage.chance.choice((DropBefore(), DropAfter(), BUSY, Pass()))
    k = stage.chance.randint(1, SIZE)
    deadly = kill if isinstance(fault, Pass) else None
    strike = leader.proxy.strike(evictions, fault, first=k, before=deadly)
    high = _submit(stage, "high", stage.chance.randint(2, SIZE), "high")
    assert strike.done.wait(60), f"eviction {k} was never sent"
    stage.runs(high)
    left = [gang for gang in low if stage.pods(gang)]
    assert len(left) == 1, f"{len(left)} of the two lower gangs are left"
    stage.gangs += [high, *left]
    stage.expected = Expectations(2 * SIZE + high.pods, 3, SIZE + high.pods)


def _submit(stage: Stage, name: str, pods: int, priority: str) -> Gang:
    """Create a gang of that priority."""
    gang = Gang(stage.namespace, name, pods)
    for i in range(pods):
        body = gang.body(i)
        body["spec"]["priorityClassName"] = priority
        stage.api.create(f"/api/v1/namespaces/{stage.namespace}/pods", body)
    return gang


SCENARIOS = (
    Scenario(
        "preempted",
        "Whichever eviction of a preemption is lost or kills its leader, the higher gang runs.",
        preempted,
        quick=True,
    ),
)
