"""Jobs of the real controller: one is replaced by force, and one is refused in part by a policy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches
from tests.e2e.hostile.stage import Body, Stage, pods, stage_on
from tests.faults.policies import refusing
from tests.twins.jobs import job

LEAF = 4
"""Nodes of a leaf of the fleet, and members of each Job."""
SIZE = LEAF
TOGETHER_SECONDS = 3.0
"""Within which the members of one gang are bound, by times in whole seconds."""


@pytest.fixture(scope="module")
def stage(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Eight nodes of 8 GPUs under two leaves, and the Job controller."""
    folder = tmp_path_factory.mktemp("jobs")
    with stage_on(module_control_plane, folder, 2 * LEAF) as stage:
        yield stage


@pytest.fixture
def space(stage: Stage) -> Iterator[str]:
    """A namespace of its own; afterwards nothing of it is left."""
    space = stage.honest()
    yield space
    for one in stage.admin.get(_jobs(space))["items"]:
        _delete(stage.admin, space, one["metadata"]["name"])
    stage.clear(space)
    eventually(lambda: not breaches(stage.admin), "at rest without a breach")


def test_a_job_that_is_replaced_by_force_starts_whole(stage: Stage, space: str) -> None:
    """`kubectl replace --force` of a Job that runs: those of the new one are a gang of their own.

    Its old pods are there for a while, under the same owner's name. The new ones are bound
    together, to one leaf, and not one by one as the old ones leave.
    """
    first = _made(stage, space)
    stage.wait_bound(space, SIZE)
    _delete(stage.admin, space, "again")
    second = _made(stage, space)
    assert second != first
    eventually(lambda: len(_bound(stage, space, second)) == SIZE, "all of the new one run", 60)
    members = _bound(stage, space, second)
    assert len({_leaf(body) for body in members}) == 1
    times = sorted(_bound_at(body) for body in members)
    assert (times[-1] - times[0]).total_seconds() <= TOGETHER_SECONDS


def test_a_policy_that_refuses_one_member_fails_no_job(stage: Stage, space: str) -> None:
    """Nothing is bound in part, so no pod is evicted, and the Job counts none as failed."""
    third = "object.metadata.name.startsWith('again-3')"
    with refusing(stage.admin, "no-third-of-a-job", space, third, "Invalid"):
        uid = _made(stage, space)
        eventually(lambda: len(_members(stage, space, uid)) == SIZE, "its pods are there")
        time.sleep(20)
        assert stage.bound(space) == []
        status = stage.admin.get(f"{_jobs(space)}/again")["status"]
        assert not status.get("failed")
        assert not status.get("failedIndexes")
    eventually(lambda: len(_bound(stage, space, uid)) == SIZE, "it runs once it may", 120)


def _jobs(space: str) -> str:
    return f"/apis/batch/v1/namespaces/{space}/jobs"


def _made(stage: Stage, space: str) -> str:
    """The UID of a new Job `again`."""
    body = job("again", SIZE)
    body["spec"]["template"]["spec"] |= {
        "terminationGracePeriodSeconds": 5,
        "restartPolicy": "Never",
    }
    return str(stage.admin.create(_jobs(space), body)["metadata"]["uid"])


def _delete(api: Api, space: str, name: str) -> None:
    api.delete(f"{_jobs(space)}/{name}?propagationPolicy=Background")


def _members(stage: Stage, space: str, job_uid: str) -> list[Body]:
    """The pods of the Job of that UID."""
    return [
        body
        for body in stage.admin.get(pods(space))["items"]
        if any(owner["uid"] == job_uid for owner in body["metadata"].get("ownerReferences", ()))
    ]


def _bound(stage: Stage, space: str, job_uid: str) -> list[Body]:
    return [body for body in _members(stage, space, job_uid) if body["spec"].get("nodeName")]


def _leaf(body: Body) -> int:
    return int(body["spec"]["nodeName"].rpartition("-")[2]) // LEAF


def _bound_at(body: Body) -> datetime:
    """When the pod was bound, by its condition."""
    conditions = body["status"].get("conditions", ())
    said = next(one for one in conditions if one["type"] == "PodScheduled")
    return datetime.fromisoformat(said["lastTransitionTime"])
