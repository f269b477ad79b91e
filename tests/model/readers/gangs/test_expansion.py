"""Owners given without pods are expanded into the pods that they would make."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import gangs
from tests.model.readers.made import (
    OURS,
    TEMPLATE,
    Body,
    config,
    job,
    owned,
    owner,
    pod,
    pod_spec,
    reading,
)


def test_job() -> None:
    """A Job of parallelism 3 and two completions runs two pods together."""
    found = reading(job("g", parallelism=3, completions=2))
    assert gangs(found) == {"ml/g": ["g-0", "g-1"]}


def test_single_job() -> None:
    """A Job of one pod that is not Indexed is a pod on its own."""
    assert gangs(reading(job("g"))) == {"ml/g-0": ["g-0"]}


def test_suspended_job() -> None:
    """A suspended Job is shown, but gated until it is resumed."""
    (gang,) = reading(job("g", suspend=True, parallelism=2)).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.GATED


def test_finished_job() -> None:
    """A completed Job makes no pods."""
    done = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    assert gangs(reading(job("g") | done)) == {}


def test_deployment_and_stateful_set() -> None:
    """Replicas are pods on their own."""
    found = reading(
        owner("Deployment", "apps/v1", "d", replicas=2, template=TEMPLATE),
        owner("StatefulSet", "apps/v1", "s", template=TEMPLATE),
    )
    assert gangs(found) == {"ml/d-0": ["d-0"], "ml/d-1": ["d-1"], "ml/s-0": ["s-0"]}


def test_deployment_behind_a_replica_set() -> None:
    """A pod of the Deployment's ReplicaSet, given or not, keeps it from being expanded."""
    deployment = owner("Deployment", "apps/v1", "d", replicas=1, template=TEMPLATE)
    replicas = owned(owner("ReplicaSet", "apps/v1", "d-5f"), "Deployment", "d", "apps/v1")
    mine = owned(pod("d-5f-x"), "ReplicaSet", "d-5f", "apps/v1")
    for bodies in ([deployment, replicas, mine], [deployment, mine]):
        assert gangs(reading(*bodies)) == {"ml/d-5f-x": ["d-5f-x"]}


def test_job_set() -> None:
    """All pods of a JobSet are one gang: one driver and two times two workers."""
    found = reading(
        owner(
            "JobSet",
            "jobset.x-k8s.io/v1alpha2",
            "js",
            replicatedJobs=[
                {"name": "driver", "template": {"spec": {"template": TEMPLATE}}},
                {
                    "name": "w",
                    "replicas": 2,
                    "template": {"spec": {"parallelism": 2, "template": TEMPLATE}},
                },
            ],
        )
    )
    assert gangs(found) == {
        "ml/js": ["js-driver-0-0", "js-w-0-0", "js-w-0-1", "js-w-1-0", "js-w-1-1"]
    }


def test_leader_worker_set() -> None:
    """Two groups of three: two gangs, each a leader and two workers."""
    found = reading(
        owner(
            "LeaderWorkerSet",
            "leaderworkerset.x-k8s.io/v1",
            "l",
            replicas=2,
            leaderWorkerTemplate={"size": 3, "workerTemplate": TEMPLATE},
        )
    )
    assert gangs(found) == {
        "ml/l-0": ["l-0", "l-0-1", "l-0-2"],
        "ml/l-1": ["l-1", "l-1-1", "l-1-2"],
    }


def ray(**spec: Any) -> Body:
    """Make a RayCluster of a head without GPUs and two workers."""
    head = {"template": {"spec": pod_spec(None)}}
    group = {"groupName": "w", "replicas": 2, "minReplicas": 1, "template": TEMPLATE}
    groups = [group]
    return owner(
        "RayCluster", "ray.io/v1", "r", headGroupSpec=head, workerGroupSpecs=groups, **spec
    )


def test_ray_cluster() -> None:
    """Head and workers start together."""
    assert gangs(reading(ray())) == {"ml/r": ["r-w-worker-0", "r-w-worker-1", "r-head"]}


def test_autoscaling_ray_cluster() -> None:
    """An autoscaling cluster starts with its least workers."""
    found = reading(ray(enableInTreeAutoscaling=True))
    assert gangs(found) == {"ml/r": ["r-w-worker-0", "r-head"]}


def test_unknown_kinds_are_counted() -> None:
    """Kinds that a plan does not need are counted, and nothing is said about them."""
    found = reading(owner("Service", "v1", "s"), owner("Service", "v1", "t"))
    assert found.ignored == {"Service": 2}
    assert not found.problems


WORKER: Body = {"replicas": 2, "template": TEMPLATE}
STRANGERS: dict[str, tuple[Body, str]] = {
    "Workflow": (
        owner("Workflow", "argoproj.io/v1alpha1", "x", templates=[WORKER]),
        "spec.templates[0].template.spec.schedulerName",
    ),
    "RayJob": (
        owner("RayJob", "ray.io/v1", "x", rayClusterSpec={"workerGroupSpecs": [WORKER]}),
        "spec.rayClusterSpec.workerGroupSpecs[0].template.spec.schedulerName",
    ),
    "CronJob": (
        owner("CronJob", "batch/v1", "x", jobTemplate={"spec": {"template": TEMPLATE}}),
        "spec.jobTemplate.spec.template.spec.schedulerName",
    ),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_kind_that_is_not_read_is_told_where_it_names_us(kind: str) -> None:
    """Its pods would wait for us unseen, so the field that names us is warned about."""
    body, field = STRANGERS[kind]
    found = reading(body)
    assert found.ignored == ({} if kind == "RayJob" else {kind: 1})
    (warning,) = found.problems
    assert not warning.is_error
    assert (warning.object, warning.field) == (f"{kind} ml/x", field)
    assert warning.value == f'"{OURS}"'


def test_a_kind_that_is_not_read_is_not_told_of_where_its_pods_are_there() -> None:
    """The pods are planned whoever made them; nor is another scheduler any business of ours."""
    body, _ = STRANGERS["Workflow"]
    mine = owned(pod("x-worker-0"), "Workflow", "x", "argoproj.io/v1alpha1")
    assert not reading(body, mine).problems
    theirs = {"replicas": 1, "template": {"spec": pod_spec(schedulerName="volcano")}}
    assert not reading(owner("Workflow", "argoproj.io/v1alpha1", "x", templates=[theirs])).problems


def test_a_kind_that_is_not_read_counts_under_the_configured_name() -> None:
    """Whoever is ours is what the config says, wherever in the input that stands."""
    theirs = {"replicas": 1, "template": {"spec": pod_spec(schedulerName="mine")}}
    body = owner("Workflow", "argoproj.io/v1alpha1", "x", templates=[theirs])
    (warning,) = reading(body, config(schedulerNames=["mine"])).problems
    assert warning.object == "Workflow ml/x"


def test_the_search_of_a_kind_that_is_not_read_ends() -> None:
    """What stands before 100,000 lists is found; what stands behind them is given up on."""
    wide = {"many": [[] for _ in range(100_000)], "z": {"schedulerName": OURS}}
    behind = [[{"schedulerName": "gpu-scheduler"}]]
    found = reading(owner("Widget", "example.com/v1", "w", a=wide, b=behind))
    assert [one.field for one in found.problems] == ["spec.a.z.schedulerName"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}, True),
        ({"containers": [{"resources": {"limits": {"cpu": 8}}}]}, False),
        (pod_spec(schedulerName="default-scheduler"), False),
    ],
)
def test_an_owner_of_gpu_pods_that_names_no_scheduler(spec: Body, told: bool) -> None:
    """It was probably meant for us; one that asks for no GPU, or chose another, was not."""
    found = reading(job("g", template={"spec": spec}))
    assert found.snapshot.gangs == ()
    fields = [(one.is_error, one.object, one.field) for one in found.problems]
    assert fields == ([(False, "Job ml/g", "spec.template.spec.schedulerName")] if told else [])


def test_after_one_owner_too_large_no_other_is_counted_out() -> None:
    """Of ten Jobs of a million pods the first is refused; the input is, and none costs more."""
    jobs = [job(f"g{index}", parallelism=1_000_000, completions=1_000_000) for index in range(10)]
    found = reading(*jobs, strict=False)
    assert [one.object for one in found.problems if "may expand to" in one.message] == ["Job ml/g0"]
