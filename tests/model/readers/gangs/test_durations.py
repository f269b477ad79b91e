"""How long pods run, and when those that run end."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.readers.live import LiveReader
from fourleaf.model.snapshot import RunningPod
from tests.model.readers.made import Body, job, node, owned, pod, reading

CREATED = "2026-01-01T00:00:00Z"
STARTED = "2026-01-01T01:00:00Z"
EPOCH = 1767225600.0
"""`CREATED` in seconds."""
HOUR = 3600.0


def running(
    annotations: Body | None = None,
    status: Body | None = None,
    owner: str = "",
    **spec: Any,
) -> Body:
    """A pod that was created at `CREATED` and stands on the node n1."""
    body = pod("p", annotations=annotations, nodeName="n1", **spec)
    body["metadata"]["creationTimestamp"] = CREATED
    body["status"] = {"phase": "Running", "startTime": STARTED} if status is None else status
    return owned(body, "Job", owner) if owner else body


def only(*bodies: Body) -> RunningPod:
    """The one pod that runs, read at once and change by change alike."""
    (found,) = reading(node("n1"), *bodies).snapshot.running
    live = LiveReader()
    for body in (node("n1"), *bodies):
        live.put(body["apiVersion"].rpartition("/")[0], body["kind"], body)
    assert live.reading(0.0).snapshot.running == (found,)
    return found


SAID = {"topology.scheduler/expected-duration": "90m"}


@pytest.mark.parametrize(
    ("bodies", "hours"),
    [
        ([running()], None),
        ([running(SAID)], 2.5),
        ([running(activeDeadlineSeconds=7200)], 3.0),
        ([running(SAID, activeDeadlineSeconds=7200)], 2.5),
        ([running(owner="train"), job("train", activeDeadlineSeconds=1800)], 1.5),
        ([running(owner="train"), job("train", annotations=SAID)], 2.5),
        ([running(owner="train", activeDeadlineSeconds=3600), job("train", annotations=SAID)], 2.5),
        ([running(SAID, {"phase": "Running"})], 1.5),
        ([running(SAID, {})], 1.5),
        ([running(SAID, {"phase": "Pending"})], None),
        ([running(SAID, {"phase": "Pending", "startTime": STARTED})], 2.5),
        ([running(SAID, schedulerName="default-scheduler")], 2.5),
        ([running({"topology.scheduler/expected-duration": "x"}, schedulerName="else")], None),
    ],
)
def test_when_a_running_pod_ends(bodies: list[Body], hours: float | None) -> None:
    """What is stated, else the deadline of the pod, else of its Job, from start or creation on."""
    expected = None if hours is None else EPOCH + hours * HOUR
    assert only(*bodies).ends == expected


def test_a_kubelet_that_takes_the_pod_counts() -> None:
    """The time of the start alone is news to the incremental reader."""
    live = LiveReader()
    live.put("", "Node", node("n1"))
    live.put("", "Pod", running(SAID, {"phase": "Pending"}))
    assert [one.ends for one in live.reading(0.0).snapshot.running] == [None]
    assert live.put("", "Pod", running(SAID, {"phase": "Pending", "startTime": STARTED}))
    assert [one.ends for one in live.reading(0.0).snapshot.running] == [EPOCH + 2.5 * HOUR]


def bound(at: str) -> Body:
    """What the API server says of a pod that was bound `at` that time of the day."""
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastTransitionTime": f"2026-01-01T{at}Z",
    }
    return {"phase": "Running", "conditions": [condition]}


@pytest.mark.parametrize(
    ("statuses", "hours"),
    [
        ((bound("01:00:00"), bound("01:30:00")), 1.5),
        ((bound("01:00:00") | {"startTime": "2026-01-01T03:00:00Z"}, bound("02:00:00")), 2.0),
        (({"phase": "Running", "startTime": STARTED}, {"phase": "Running"}), 1.0),
        (({"phase": "Running"}, {"phase": "Running"}), 0.0),
        ((bound("01:00:00"), {"phase": "Pending"}), 6.0),
    ],
)
def test_a_gang_stands_since_its_last_member_was_bound(
    statuses: tuple[Body, Body], hours: float
) -> None:
    """Not since it was created: it may have waited for long. What is bound unsaid is bound now."""
    pods = members({}, {})
    for one, status in zip(pods, statuses, strict=True):
        one["metadata"]["creationTimestamp"] = CREATED
        one["status"] = status
    live = LiveReader()
    for body in (node("n1"), *pods):
        live.put("", body["kind"], body)
    (stood,) = live.standing(EPOCH + 6 * HOUR, (), True)
    assert stood.started == EPOCH + hours * HOUR


def members(*more: Body) -> list[Body]:
    """The two members of a gang that runs; `more` is what each says in its own way."""
    said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    return [
        pod(name, 4, annotations={**said, **own.get("annotations", {})}, nodeName="n1")
        | {"spec": pod("x", 4, nodeName="n1")["spec"] | own.get("spec", {})}
        for name, own in zip("ab", more, strict=True)
    ]


def after_a_failure(pods: list[Body], asked: bool) -> LiveReader:
    """A reader after the first member has failed, having been `asked` what stands before."""
    live = LiveReader()
    live.put("", "Node", node("n1"))
    for one in pods:
        live.put("", "Pod", one)
    assert live.reading(0.0).problems == ()
    if asked:
        (stood,) = live.standing(0.0, (), True)
        assert stood.gang.hold is not None
    live.put("", "Pod", pods[0] | {"status": {"phase": "Failed"}})
    return live


@pytest.mark.parametrize(
    "own",
    [
        tuple({"annotations": {"topology.scheduler/network-bandwidth": b}} for b in ("1Gb", "2Gb")),
        ({}, {"spec": {"nodeSelector": "x"}}),
    ],
)
def test_what_is_asked_of_gangs_that_stand_leaves_no_trace(own: tuple[Body, Body]) -> None:
    """What is wrong with members is told when they are read, whoever looked at them before."""
    pods = members(*own)
    asked, plain = (after_a_failure(pods, one).reading(0.0) for one in (True, False))
    assert asked.problems == plain.problems
    assert asked.snapshot.gangs == plain.snapshot.gangs
    assert len(plain.snapshot.gangs) == 1
