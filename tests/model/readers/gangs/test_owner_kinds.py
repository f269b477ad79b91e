"""Owners that a table describes: their pods are one gang, as many as the object says."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.config.owner_kinds import BUILT_IN_OWNER_KINDS, OwnerKind
from fourleaf.model.problems import BadInput
from fourleaf.model.readers import Source, read
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import gangs
from tests.model.readers.made import (
    TEMPLATE,
    Body,
    config,
    job,
    node,
    owned,
    owner,
    pod,
    pod_spec,
    reading,
)


def replicas(**counts: int) -> Body:
    """Replica specs as Kubeflow has them, by name."""
    return {name: {"replicas": count, "template": TEMPLATE} for name, count in counts.items()}


KUBEFLOW = {
    "PyTorchJob": "pytorchReplicaSpecs",
    "TFJob": "tfReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "JAXJob": "jaxReplicaSpecs",
}


@pytest.mark.parametrize("kind", KUBEFLOW)
def test_all_replicas_of_a_kubeflow_job_are_one_gang(kind: str) -> None:
    """A master and three workers: four pods that start together, named as the operator does."""
    body = owner(kind, "kubeflow.org/v1", "x", **{KUBEFLOW[kind]: replicas(Master=1, Worker=3)})
    found = reading(body)
    assert gangs(found) == {"ml/x": ["x-master-0", "x-worker-0", "x-worker-1", "x-worker-2"]}
    assert not found.problems


def test_workers_that_are_there_wait_for_those_that_are_not() -> None:
    """Two of four workers of a PyTorchJob are there: none starts, and the message counts them."""
    body = owner("PyTorchJob", "kubeflow.org/v1", "x", pytorchReplicaSpecs=replicas(Worker=4))
    pods = [owned(pod(f"x-worker-{i}"), "PyTorchJob", "x", "kubeflow.org/v1") for i in (0, 1)]
    (gang,) = reading(body, *pods).snapshot.gangs
    assert gang.hold is not None
    assert (gang.hold.kind, gang.hold.detail) == (
        ReasonKind.MEMBERS_MISSING,
        "2 of 4 members exist",
    )


def test_the_least_that_may_start_counts_where_it_is_said() -> None:
    """MinAvailable 3 of 4: a gang of three, and the fourth on its own after it."""
    policy = {"schedulingPolicy": {"minAvailable": 3}}
    body = owner(
        "PyTorchJob",
        "kubeflow.org/v1",
        "x",
        pytorchReplicaSpecs=replicas(Worker=4),
        runPolicy=policy,
    )
    assert gangs(reading(body)) == {
        "ml/x": ["x-worker-0", "x-worker-1", "x-worker-2"],
        "ml/x+x-worker-3": ["x-worker-3"],
    }


def test_a_suspended_job_is_gated() -> None:
    """runPolicy.suspend keeps the pods of a PyTorchJob back."""
    more: Body = {"runPolicy": {"suspend": True}}
    specs = replicas(Worker=2)
    body = owner("PyTorchJob", "kubeflow.org/v1", "x", pytorchReplicaSpecs=specs, **more)
    (gang,) = reading(body).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.GATED


@pytest.mark.parametrize("late", [False, True])
def test_a_launcher_that_comes_later_is_not_waited_for(late: bool) -> None:
    """The launcher is the pod of a Job of the MPIJob; it starts with its workers, or after them."""
    spec: Body = {"mpiReplicaSpecs": replicas(Worker=2, Launcher=1)}
    if late:
        spec["launcherCreationPolicy"] = "WaitForWorkersReady"
    body = owner("MPIJob", "kubeflow.org/v2beta1", "x", **spec)
    workers = [owned(pod(f"x-worker-{i}"), "MPIJob", "x", "kubeflow.org/v2beta1") for i in (0, 1)]
    job = owned(owner("Job", "batch/v1", "x-launcher"), "MPIJob", "x", "kubeflow.org/v2beta1")
    launcher = owned(pod("x-launcher-abcde"), "Job", "x-launcher")
    (gang,) = reading(body, job, *workers).snapshot.gangs
    assert (gang.hold is None) is late
    names = ["x-launcher-abcde", "x-worker-0", "x-worker-1"]
    expected = {"ml/x": names[1:], "ml/x+x-launcher-abcde": names[:1]} if late else {"ml/x": names}
    assert gangs(reading(body, job, launcher, *workers)).keys() == expected.keys()


def test_executors_start_together_and_their_driver_before_them() -> None:
    """The driver of a SparkApplication makes its executors: it is placed for itself."""
    body = owner(
        "SparkApplication",
        "sparkoperator.k8s.io/v1beta2",
        "x",
        driver={},
        executor={"instances": 2},
    )
    names = {"sparkoperator.k8s.io/app-name": "x"}
    driver = owned(
        pod("x-driver", labels={**names, "spark-role": "driver"}),
        "SparkApplication",
        "x",
        "sparkoperator.k8s.io/v1beta2",
    )
    assert gangs(reading(body, driver)) == {"ml/x-driver": ["x-driver"]}
    first = owned(pod("x-exec-1", labels={**names, "spark-role": "executor"}), "Pod", "x-driver")
    held = {one.key.name: one.hold for one in reading(body, driver, first).snapshot.gangs}
    assert held["x-driver"] is None
    assert held["x-executor"] is not None
    second = owned(pod("x-exec-2", labels={**names, "spark-role": "executor"}), "Pod", "x-driver")
    found = reading(body, driver, first, second)
    assert gangs(found)["ml/x-executor"] == ["x-exec-1", "x-exec-2"]
    assert all(one.hold is None for one in found.snapshot.gangs)


@pytest.mark.parametrize(("enabled", "starts"), [(True, True), (False, False)])
def test_executors_that_come_and_go(enabled: bool, starts: bool) -> None:
    """With dynamic allocation one of up to eight has to start; where that is off, all eight."""
    dynamic = {"enabled": enabled, "minExecutors": 1}
    body = owner(
        "SparkApplication",
        "sparkoperator.k8s.io/v1beta2",
        "x",
        driver={},
        executor={"instances": 8},
        dynamicAllocation=dynamic,
    )
    labels = {"sparkoperator.k8s.io/app-name": "x", "spark-role": "executor"}
    (gang,) = reading(body, owned(pod("x-1", labels=labels), "Pod", "x-driver")).snapshot.gangs
    assert (gang.hold is None) is starts


def test_executors_of_an_earlier_run_are_none_of_this_one() -> None:
    """Two have succeeded, and one of two new ones is there: it waits for the other."""
    body = owner("SparkApplication", "sparkoperator.k8s.io/v1beta2", "x", executor={"instances": 2})
    labels = {"sparkoperator.k8s.io/app-name": "x", "spark-role": "executor"}
    pods = [
        pod(name, labels=labels, phase=phase)
        for name, phase in (("a", "Succeeded"), ("b", "Succeeded"), ("c", "Pending"))
    ]
    (gang,) = reading(body, *pods).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.detail == "1 of 2 members exist"


def test_a_pod_gang_of_grove() -> None:
    """Members of two cliques, of which 1 and 2 have to start: a gang of three."""
    groups = [
        {"name": "x-0-prefill", "minReplicas": 1, "podReferences": []},
        {"name": "x-0-decode", "minReplicas": 2, "podReferences": []},
    ]
    body = owner("PodGang", "scheduler.grove.io/v1alpha1", "x-0", podgroups=groups)
    names = ["x-0-decode-a", "x-0-decode-b", "x-0-prefill-a"]

    def member(name: str) -> Body:
        clique = name[:-2]
        labels = {"grove.io/podgang": "x-0", "grove.io/podclique": clique}
        return owned(pod(name, labels=labels), "PodClique", clique, "grove.io/v1alpha1")

    pods = [member(name) for name in names]
    found = reading(body, *pods)
    assert gangs(found) == {"ml/x-0": names}
    assert found.snapshot.gangs[0].hold is None
    (gang,) = reading(body, *pods[:2]).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.detail == "2 of 3 members exist"
    # Three of one clique are not two of one and one of the other.
    alike = [member(f"x-0-decode-{i}") for i in "abc"]
    held = {one.key.name: one.hold for one in reading(body, *alike).snapshot.gangs}
    assert held["x-0"] is not None
    assert held["x-0"].detail == "2 of 3 members exist"
    assert held["x-0+x-0-decode-c"] is not None


def test_a_gated_worker_that_is_not_needed_holds_no_other() -> None:
    """Two of three have to start; the first is gated, so the other two do."""
    specs = replicas(Worker=3)
    policy = {"schedulingPolicy": {"minAvailable": 2}}
    body = owner("PyTorchJob", "kubeflow.org/v1", "x", pytorchReplicaSpecs=specs, runPolicy=policy)
    pods = [owned(pod(f"x-worker-{i}"), "PyTorchJob", "x", "kubeflow.org/v1") for i in range(3)]
    pods[0]["spec"]["schedulingGates"] = [{"name": "later"}]
    found = reading(body, *pods)
    assert gangs(found)["ml/x"] == ["x-worker-1", "x-worker-2"]
    assert {one.key.name: one.hold is None for one in found.snapshot.gangs}["x"]


def test_a_member_that_lost_its_owner_takes_no_size_away() -> None:
    """A copy of a member with its labels alone: two of four are still two of four, and one more."""
    body = owner("JobSet", "jobset.x-k8s.io/v1alpha2", "x", replicatedJobs=[JOBS_OF_TWO] * 2)
    labels = {"jobset.sigs.k8s.io/jobset-name": "x"}
    pods = [
        owned(pod(f"x-{i}", labels=labels), "JobSet", "x", "jobset.x-k8s.io/v1alpha2")
        for i in (1, 2)
    ]
    (gang,) = reading(body, pod("a-copy", labels=labels), *pods).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.detail == "3 of 4 members exist"


@pytest.mark.parametrize(
    ("jobs", "owners"),
    [
        (("x-w-0",), "JobSet x and Job x-w-0 what keeps them from creating the 2 missing pods."),
        (("x-w-0", "x-w-1"), "JobSet x what keeps it from creating the missing pod."),
    ],
)
def test_who_is_to_make_the_members_that_are_missing(jobs: tuple[str, ...], owners: str) -> None:
    """The only Job that there is may have all of its pods: its JobSet is to make the others."""
    version = "jobset.x-k8s.io/v1alpha2"
    body = owner("JobSet", version, "x", replicatedJobs=[JOBS_OF_TWO | {"replicas": 3}])
    made = [owned(job(name, parallelism=1), "JobSet", "x", version) for name in jobs]
    labels = {"jobset.sigs.k8s.io/jobset-name": "x"}
    pods = [owned(pod(f"{name}-0", labels=labels), "Job", name) for name in jobs]
    (gang,) = reading(body, *made, *pods).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.unblock == (f"See in the events of {owners}",)


JOBS_OF_TWO: Body = {
    "name": "w",
    "replicas": 2,
    "template": {"spec": {"parallelism": 1, "template": TEMPLATE}},
}


@pytest.mark.parametrize(
    "staged",
    [
        {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
        {"replicatedJobs": [{**JOBS_OF_TWO, "name": "init"}, {**JOBS_OF_TWO, "dependsOn": [{}]}]},
    ],
)
def test_jobs_that_start_one_after_the_other_are_gangs_of_their_own(staged: Body) -> None:
    """A JobSet makes its workers once its initializers have run: neither waits for the other."""
    jobs = [{**JOBS_OF_TWO, "name": "init"}, JOBS_OF_TWO]
    spec = {"replicatedJobs": jobs} | staged
    body = owner("JobSet", "jobset.x-k8s.io/v1alpha2", "x", **spec)
    labels = {"jobset.sigs.k8s.io/jobset-name": "x"}

    def member(job: str, number: int) -> Body:
        named = {**labels, "jobset.sigs.k8s.io/replicatedjob-name": job}
        one = pod(f"x-{job}-{number}", labels=named)
        return owned(one, "JobSet", "x", "jobset.x-k8s.io/v1alpha2")

    (gang,) = reading(body, member("init", 0), member("init", 1)).snapshot.gangs
    assert (gang.key.name, gang.hold) == ("x-init", None)
    (gang,) = reading(body, member("w", 0)).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.detail == "1 of 2 members exist"
    assert set(gangs(reading(body))) == {"ml/x-init", "ml/x-w"}


def test_workers_that_come_once_their_leader_is_ready() -> None:
    """LeaderReady: the leader of a group starts by itself, then its two workers together."""
    template = {"size": 3, "workerTemplate": TEMPLATE}
    body = owner(
        "LeaderWorkerSet",
        "leaderworkerset.x-k8s.io/v1",
        "x",
        startupPolicy="LeaderReady",
        leaderWorkerTemplate=template,
    )

    def member(index: int) -> Body:
        labels = {
            "leaderworkerset.sigs.k8s.io/name": "x",
            "leaderworkerset.sigs.k8s.io/group-index": "0",
            "leaderworkerset.sigs.k8s.io/worker-index": str(index),
        }
        one = pod(f"x-0-{index}", labels=labels)
        return owned(one, "LeaderWorkerSet", "x", "leaderworkerset.x-k8s.io/v1")

    (gang,) = reading(body, member(0)).snapshot.gangs
    assert (gang.key.name, gang.hold) == ("x-0-leader", None)
    (gang,) = reading(body, member(1)).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.detail == "1 of 2 members exist"
    assert gangs(reading(body, *map(member, range(3))))["ml/x-0"] == ["x-0-1", "x-0-2"]


def test_a_file_with_jobs_of_two_groups_has_the_pods_of_both() -> None:
    """A Volcano Job with its pod, and a Kubernetes Job of the same name without any."""
    volcano = owner("Job", "batch.volcano.sh/v1alpha1", "x", tasks=[{"name": "w", "replicas": 1}])
    mine = owned(pod("x-w-0"), "Job", "x", "batch.volcano.sh/v1alpha1")
    found = reading(volcano, mine, job("x", parallelism=2))
    assert sum(len(role.pods) for gang in found.snapshot.gangs for role in gang.roles) == 3


def test_what_a_described_owner_asks_for_in_vain_is_named() -> None:
    """A rack that Grove's PodGang requires is not promised here: the gang waits as Unsupported."""
    groups = [{"name": "a", "minReplicas": 1}]
    required = {"packConstraint": {"required": "topology.kubernetes.io/rack"}}
    body = owner(
        "PodGang", "scheduler.grove.io/v1alpha1", "g", podgroups=groups, topologyConstraint=required
    )
    (gang,) = reading(body, pod("a", labels={"grove.io/podgang": "g"})).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.UNSUPPORTED
    assert "spec.topologyConstraint.packConstraint.required" in gang.hold.detail


def test_a_job_of_volcano_is_not_a_job_of_kubernetes() -> None:
    """Its tasks count, and minAvailable; `parallelism` of its own would say nothing."""
    tasks = [{"name": "w", "replicas": 2, "template": TEMPLATE}]
    found = reading(owner("Job", "batch.volcano.sh/v1alpha1", "v", tasks=tasks))
    assert gangs(found) == {"ml/v": ["v-w-0", "v-w-1"]}


def test_jobs_of_two_kinds_that_share_a_name_are_two_gangs() -> None:
    """The second is told apart by what its kind is called."""
    both = [
        owner(kind, "kubeflow.org/v1", "x", **{KUBEFLOW[kind]: replicas(Worker=1)})
        for kind in ("TFJob", "PyTorchJob")
    ]
    # The pods of both would be called the same, so the second is refused; their gangs are not.
    pods = [
        owned(pod(f"p-{i}"), kind, "x", "kubeflow.org/v1")
        for i, kind in enumerate(("TFJob", "PyTorchJob"))
    ]
    assert gangs(reading(*both, *pods)) == {
        "ml/x": ["p-1"],
        "ml/x@tfjobs.kubeflow.org": ["p-0"],
    }


def test_annotations_of_a_wrapper_count_for_its_pods() -> None:
    """A pod that names its AppWrapper by a label has the wrapper's strategy."""
    body = owner("AppWrapper", "workload.codeflare.dev/v1beta2", "w", components=[])
    body["metadata"]["annotations"] = {"topology.scheduler/placement-strategy": "distributed"}
    (gang,) = reading(
        body, pod("p", labels={"workload.codeflare.dev/appwrapper": "w"})
    ).snapshot.gangs
    assert gang.strategy == "distributed"


def test_an_object_whose_pods_cannot_be_told_is_warned_of() -> None:
    """A TrainJob says nothing of its pods: alone in a file, the field that names us is told."""
    body = owner("TrainJob", "trainer.kubeflow.org/v1alpha1", "t", podSpecOverrides=pod_spec())
    (warning,) = reading(body).problems
    assert (warning.object, warning.field) == (
        "TrainJob ml/t",
        "spec.podSpecOverrides.schedulerName",
    )


TRAINING = {
    "group": "example.com",
    "versions": ["v1"],
    "kind": "Training",
    "resource": "trainings",
    "podSets": [{"path": "spec.workers", "replicas": "count"}],
}


def test_the_config_describes_more_kinds() -> None:
    """A kind of one's own, one entry in the config: three workers, one gang."""
    body = owner("Training", "example.com/v1", "x", workers={"count": 3, "template": TEMPLATE})
    assert gangs(reading(body)) == {}
    found = reading(body, config(ownerKinds=[TRAINING]))
    assert gangs(found) == {"ml/x": ["x-workers-0", "x-workers-1", "x-workers-2"]}
    assert not found.problems
    assert not found.ignored


def test_an_entry_of_the_config_wins_over_the_built_in_one() -> None:
    """PyTorchJobs whose masters are not waited for."""
    entry = {
        "group": "kubeflow.org",
        "versions": ["v1"],
        "kind": "PyTorchJob",
        "resource": "pytorchjobs",
        "podSets": [{"path": "spec.pytorchReplicaSpecs.Worker"}],
    }
    specs = replicas(Master=1, Worker=2)
    body = owner("PyTorchJob", "kubeflow.org/v1", "x", pytorchReplicaSpecs=specs)
    assert gangs(reading(body, config(ownerKinds=[entry]))) == {
        "ml/x": ["x-worker-0", "x-worker-1"]
    }


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"group": "batch", "kind": "Job"}, "spec.ownerKinds[0]", "is read already"),
        ({"kind": "training"}, "spec.ownerKinds[0].kind", "PyTorchJob"),
        ({"versions": []}, "spec.ownerKinds[0].versions", "at least"),
        ({"group": "scheduling.x-k8s.io"}, "spec.ownerKinds[0]", "read for something else"),
        ({"leastMembers": "spec.groups.*.min"}, "spec.ownerKinds[0]", "one field each"),
        ({"leastMembers": "status.desired"}, "spec.ownerKinds[0]", "not in the spec"),
        (
            {"podSets": [{"path": "spec..workers"}]},
            "spec.ownerKinds[0].podSets[0].path",
            "spec.workers.*.replicas",
        ),
        (
            {"podSets": [{"path": "spec.workers", "role": "worker"}]},
            "spec.ownerKinds[0]",
            "roleLabel",
        ),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused(change: Body, field: str, said: str) -> None:
    """The field and what helps are named."""
    with pytest.raises(BadInput) as caught:
        reading(config(ownerKinds=[TRAINING | change]))
    (problem,) = caught.value.problems
    assert problem.field == field
    assert said in f"{problem.message} {problem.advice}"


@pytest.mark.parametrize(
    ("specs", "field"),
    [
        ({"Worker": {"replicas": -1}}, "spec.pytorchReplicaSpecs.Worker.replicas"),
        ({"Worker": {"replicas": "2"}}, "spec.pytorchReplicaSpecs.Worker.replicas"),
        ({"Worker": 7}, "spec.pytorchReplicaSpecs.Worker"),
        (3, "spec.pytorchReplicaSpecs"),
    ],
)
def test_a_broken_owner_holds_its_own_gang_alone(specs: Any, field: str) -> None:
    """The field of the PyTorchJob is named; a pod beside it is planned."""
    body = owner("PyTorchJob", "kubeflow.org/v1", "x", pytorchReplicaSpecs=specs)
    mine = owned(pod("x-worker-0"), "PyTorchJob", "x", "kubeflow.org/v1")
    found = reading(body, mine, pod("other"), strict=False)
    assert [one.field for one in found.problems] == [field]
    holds = {one.key.name: one.hold for one in found.snapshot.gangs}
    assert holds["other"] is None
    assert holds["x"] is not None
    assert holds["x"].kind == ReasonKind.INVALID


@pytest.mark.parametrize("said", BUILT_IN_OWNER_KINDS, ids=lambda one: one.dialect)
def test_an_owner_that_is_not_there_holds_its_pods(said: OwnerKind) -> None:
    """In a whole cluster, the size of the gang is not known until its owner is."""
    version = f"{said.group}/{said.versions[0]}"
    body = owned(pod("p"), said.kind, "x", version)
    reads = read([Source("in", objects=[node(), body])], strict=False, whole=True)
    (gang,) = reads.snapshot.gangs
    assert (gang.hold is not None) is bool(said.pod_sets)
