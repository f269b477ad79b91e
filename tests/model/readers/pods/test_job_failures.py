"""What Jobs may lose: their limits of failures, and the failures that are not counted yet."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.readers.pods.job_failures import (
    INDEX_FAILURES,
    TRACKED,
    failed_so_far,
    job_limits,
    job_of,
    may_end,
)

Body = dict[str, Any]
DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget"}]}
EXIT_CODES = {"onExitCodes": {"operator": "In", "values": [42]}, "action": "FailJob"}


def of_codes(action: str, operator: str, *values: int) -> Body:
    """A rule on exit codes: a container that is told to go ends with 137 or 143."""
    return {"onExitCodes": {"operator": operator, "values": list(values)}, "action": action}


def rules(*before: Body, **said: str) -> Body:
    """A policy that ignores disruptions after these rules."""
    ignored = {"onPodConditions": [{"type": "DisruptionTarget", **said}], "action": "Ignore"}
    return {"podFailurePolicy": {"rules": [*before, ignored]}}


def pod(uid: str, phase: str = "Running", **metadata: Any) -> Body:
    """A pod with that UID."""
    return {"metadata": {"uid": uid, **metadata}, "status": {"phase": phase}}


def left(spec: Body, failed: int = 0, **status: Any) -> list[tuple[str, int, int]]:
    """Who limits evictions of three pods, how many pods it names, and how many may go."""
    pods = {("ml", f"p{n}"): pod(f"u{n}") for n in range(3)}
    pods["ml", "p0"]["metadata"]["annotations"] = {INDEX_FAILURES: "2"}
    job = {"spec": spec, "status": status}
    found = job_limits(("ml", "x"), job, pods, failed)
    return [(one.who.removeprefix("Job ml/x with spec."), len(one.pods), one.most) for one in found]


@pytest.mark.parametrize(
    ("spec", "failed", "limits"),
    [
        ({}, 3, []),
        ({}, 4, [("backoffLimit 6", 3, 2)]),
        ({"backoffLimit": 2}, 0, [("backoffLimit 2", 3, 2)]),
        ({"backoffLimit": 2}, 5, [("backoffLimit 2", 3, 0)]),
        ({"backoffLimitPerIndex": 3}, 99, []),
        ({"backoffLimitPerIndex": 2}, 0, [("backoffLimitPerIndex 2", 1, 0)]),
        ({"backoffLimitPerIndex": 3, "backoffLimit": 1}, 0, [("backoffLimit 1", 3, 1)]),
        ({"podFailurePolicy": {"rules": [EXIT_CODES, DISRUPTED | {"action": "Ignore"}]}}, 9, []),
        (
            {"podFailurePolicy": {"rules": [DISRUPTED | {"action": "FailIndex"}]}},
            0,
            [("podFailurePolicy FailIndex", 3, 0)],
        ),
        (
            {"podFailurePolicy": {"rules": [DISRUPTED | {"action": "FailJob"}]}},
            0,
            [("podFailurePolicy FailJob", 3, 0)],
        ),
        (rules(of_codes("FailJob", "NotIn", 42)), 9, [("podFailurePolicy FailJob", 3, 0)]),
        (rules(of_codes("FailIndex", "In", 1, 143)), 9, [("podFailurePolicy FailIndex", 3, 0)]),
        (rules(of_codes("FailJob", "NotIn", 137, 143)), 9, []),
        (rules(of_codes("Count", "In", 137)) | {"backoffLimit": 2}, 0, [("backoffLimit 2", 3, 2)]),
        (rules(of_codes("Ignore", "In", 137)), 9, []),
        (rules(status="False") | {"backoffLimit": 2}, 0, [("backoffLimit 2", 3, 2)]),
    ],
)
def test_what_a_job_lets_go(spec: Body, failed: int, limits: list[tuple[str, int, int]]) -> None:
    """Of three pods that run, by the field that ends it; nothing where all of them may go."""
    assert left(spec, failed) == limits
    assert may_end({"spec": spec, "status": {"failed": failed or 1}}, 3) >= bool(limits)


@pytest.mark.parametrize("text", ["9" * 5000, "\u00b2", "-1", "", "x", None, 7, ["9"]])
def test_an_annotation_that_is_no_number_counts_for_none(text: Any) -> None:
    """Its tenant writes what it likes there, 5,000 digits too, and no plan may fail of that."""
    one = pod("u", annotations={INDEX_FAILURES: text})
    job = {"spec": {"backoffLimitPerIndex": 1}}
    assert list(job_limits(("ml", "x"), job, {("ml", "p"): one}, 0)) == []


@pytest.mark.parametrize(
    ("spec", "failed", "pods", "may"),
    [
        ({}, 0, 6, False),
        ({}, 0, 7, True),
        ({}, 1, 6, True),
        ({"backoffLimitPerIndex": 100}, 0, 900, False),
        ({"backoffLimitPerIndex": 0}, 0, 1, True),
        ({"backoffLimitPerIndex": 100}, 1, 1, True),
        ({"backoffLimitPerIndex": 100, "backoffLimit": 3}, 0, 4, True),
        ({"podFailurePolicy": {"rules": [DISRUPTED | {"action": "Ignore"}]}}, 9, 9, False),
        ({"podFailurePolicy": {"rules": [DISRUPTED | {"action": "FailJob"}]}}, 0, 1, True),
    ],
)
def test_jobs_whose_pods_need_no_look(spec: Body, failed: int, pods: int, may: bool) -> None:
    """Where nothing has failed, and all pods together are no more than a Job outlasts."""
    assert may_end({"spec": spec, "status": {"failed": failed}}, pods) is may


def test_a_job_that_has_ended_limits_nothing() -> None:
    """Whatever is evicted ends it no more."""
    ended = [{"type": "FailureTarget", "status": "True"}]
    assert left({"backoffLimit": 0}) != []
    assert left({"backoffLimit": 0}, conditions=ended) == []


def test_failures_that_are_not_counted_yet() -> None:
    """Two are counted, one is about to be, one is on its way, and two are lost with their node."""
    job = {"status": {"failed": 2, "uncountedTerminatedPods": {"failed": ["a"]}}}
    tracked = {"finalizers": [TRACKED]}
    pods = [
        pod("a", "Failed"),
        pod("b", "Running", deletionTimestamp="now", **tracked),
        pod("c", "Failed"),
        pod("d"),
        pod("e", "Succeeded", deletionTimestamp="now", **tracked),
        pod("f"),
        pod("g", "Pending", **tracked),
    ]
    assert failed_so_far(job, pods, {"d", "g"}) == 6
    assert failed_so_far(job, pods) == 4


def test_the_job_that_made_a_pod() -> None:
    """Its controller, if that is a Job."""
    owner = {"kind": "Job", "name": "x", "controller": True}
    assert job_of(pod("a", ownerReferences=[owner])) == "x"
    assert job_of(pod("a", ownerReferences=[owner | {"controller": False}])) == ""
    assert job_of(pod("a", ownerReferences=[owner | {"kind": "ReplicaSet"}])) == ""
