"""Two replicas with the rights that ship place every kind of gang on a real apiserver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet, wait_usable
from tests.controlplane.waiting import eventually, serve
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import Replica, grant

GROUPS = Path(__file__).parent / "crds.yaml"


@pytest.fixture(scope="module")
def replicas(
    module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Replica, Replica]]:
    """Two replicas on a fabric of 64 nodes with controllers and kubelets."""
    plane = module_control_plane
    folder = tmp_path_factory.mktemp("replicas")
    with plane.api() as api:
        serve(api, yaml.safe_load_all(GROUPS.read_text()))
    if plane.managed:
        plane.controller_manager()
    plane.kwok()
    names = create_fleet(plane.kubeconfig(), Fleet(64), ready=False)
    grant(plane, "scheduler-a", "scheduler-b")
    with plane.api() as api:
        wait_usable(api, names)
    with (
        Replica(plane, "scheduler-a", folder) as a,
        Replica(plane, "scheduler-b", folder) as b,
    ):
        eventually(lambda: a.leads or b.leads, "a replica leads")
        yield a, b


@pytest.fixture
def api(module_control_plane: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with module_control_plane.api() as api:
        yield api


def template(gpus: int, **labels: str) -> dict[str, Any]:
    """A pod template of one container with GPUs."""
    spec = {
        "schedulerName": "topology-aware-scheduler",
        "containers": [container(gpus)],
        "restartPolicy": "Never",
    }
    return {"metadata": {"labels": labels}, "spec": spec}


def bound(api: Api, namespace: str, count: int) -> list[dict[str, Any]]:
    """All pods of a namespace, once `count` of them are bound."""

    def ask() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
        found = [pod for pod in items if holds(pod)]
        return found if len(found) == count else []

    return eventually(ask, f"{count} pods of {namespace} are bound")


def leaves(pods: list[dict[str, Any]]) -> set[int]:
    """The leaves that the pods stand in: 4 nodes each, numbered through."""
    return {int(pod["spec"]["nodeName"].removeprefix("gpu-")) // 4 for pod in pods}


def job(name: str, pods: int, gpus: int) -> dict[str, Any]:
    """A Job whose pods run at once."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"parallelism": pods, "completions": pods, "template": template(gpus)},
    }


def test_an_indexed_job_of_eight(replicas: tuple[Replica, Replica], api: Api) -> None:
    """Eight whole-node pods take two adjacent leaves, and rank order follows the nodes."""
    namespace = api.new_namespace()
    body = job("indexed", 8, 8)
    body["spec"]["completionMode"] = "Indexed"
    api.create(f"/apis/batch/v1/namespaces/{namespace}/jobs", body)
    found = sorted(leaves(bound(api, namespace, 8)))
    assert found[1] == found[0] + 1
    assert len(found) == 2


def test_a_deployment(replicas: tuple[Replica, Replica], api: Api) -> None:
    """The pods of a Deployment start one by one, each where it fits."""
    namespace = api.new_namespace()
    body = {
        "metadata": {"name": "serve"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "serve"}},
            "template": template(1, app="serve"),
        },
    }
    body["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    api.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", body)
    assert len(bound(api, namespace, 3)) == 3


@pytest.mark.parametrize(
    ("path", "group", "label"),
    [
        (
            "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{}/podgroups",
            {"spec": {"minMember": 2}, "apiVersion": "scheduling.x-k8s.io/v1alpha1"},
            {"labels": {"scheduling.x-k8s.io/pod-group": "pair"}},
        ),
        (
            "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups",
            {"spec": {"minMember": 2}, "apiVersion": "scheduling.volcano.sh/v1beta1"},
            {"annotations": {"scheduling.k8s.io/group-name": "pair"}},
        ),
    ],
    ids=["coscheduling", "volcano"],
)
def test_pod_groups(
    replicas: tuple[Replica, Replica],
    api: Api,
    path: str,
    group: dict[str, Any],
    label: dict[str, Any],
) -> None:
    """A group of two waits for its second pod, then both stand in one leaf; its status says so."""
    namespace = api.new_namespace()
    where = path.format(namespace)
    api.create(where, {"kind": "PodGroup", "metadata": {"name": "pair"}, **group})
    one = template(8)
    for i in range(2):
        pod = {**one, "metadata": {"name": f"pair-{i}", **label}}
        api.create(f"/api/v1/namespaces/{namespace}/pods", pod)
    assert len(leaves(bound(api, namespace, 2))) == 1
    eventually(
        lambda: api.get(f"{where}/pair").get("status", {}).get("phase") in ("Running", "Scheduled"),
        "the group's status says that it runs",
    )


def test_a_job_set(replicas: tuple[Replica, Replica], api: Api) -> None:
    """Pods that carry the labels of a JobSet form one gang, sized by the JobSet."""
    namespace = api.new_namespace()
    body = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "set"},
        "spec": {
            "replicatedJobs": [
                {
                    "name": "workers",
                    "replicas": 2,
                    "template": {"spec": {"parallelism": 1, "template": template(8)}},
                }
            ]
        },
    }
    made = api.create(f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets", body)
    owner = {
        "apiVersion": body["apiVersion"],
        "kind": "JobSet",
        "name": "set",
        "uid": made["metadata"]["uid"],
        "controller": True,
    }
    for i in range(2):
        pod = template(8)
        pod["metadata"] = {
            "name": f"set-workers-{i}-0",
            "labels": {
                "jobset.sigs.k8s.io/jobset-name": "set",
                "jobset.sigs.k8s.io/job-global-index": str(i),
            },
            "ownerReferences": [owner],
        }
        api.create(f"/api/v1/namespaces/{namespace}/pods", pod)
    assert len(leaves(bound(api, namespace, 2))) == 1


def test_workers_of_a_pytorch_job_start_together(
    replicas: tuple[Replica, Replica], api: Api
) -> None:
    """One of two workers waits for the other, as the job's own object says; then both are bound."""
    namespace = api.new_namespace()
    specs = {"Worker": {"replicas": 2, "template": template(8)}}
    body = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "bert"},
        "spec": {"pytorchReplicaSpecs": specs},
    }
    made = api.create(f"/apis/kubeflow.org/v1/namespaces/{namespace}/pytorchjobs", body)
    owner = {
        "apiVersion": body["apiVersion"],
        "kind": "PyTorchJob",
        "name": "bert",
        "uid": made["metadata"]["uid"],
        "controller": True,
    }
    for i in range(2):
        pod = template(8)
        pod["metadata"] = {"name": f"bert-worker-{i}", "ownerReferences": [owner]}
        api.create(f"/api/v1/namespaces/{namespace}/pods", pod)
        if i == 0:
            eventually(
                lambda: (
                    "1 of 2 members exist"
                    in str(api.get(f"/api/v1/namespaces/{namespace}/pods/bert-worker-0"))
                ),
                "the worker says that it waits for the other",
            )
    assert len(leaves(bound(api, namespace, 2))) == 1


def test_single_pods_share_a_node(replicas: tuple[Replica, Replica], api: Api) -> None:
    """Pods of 4 GPUs get different devices of a node, by annotation."""
    namespace = api.new_namespace()
    for i in range(2):
        pod = {**template(4), "metadata": {"name": f"single-{i}"}}
        api.create(f"/api/v1/namespaces/{namespace}/pods", pod)
    found = bound(api, namespace, 2)
    devices = {
        (pod["spec"]["nodeName"], one)
        for pod in found
        for one in pod["metadata"]["annotations"]["alloc.gpu.scheduling/devices"].split(",")
    }
    assert len(devices) == 8


def test_a_gated_pod_is_left_alone(replicas: tuple[Replica, Replica], api: Api) -> None:
    """A pod with a scheduling gate waits without a word; without the gate it is bound."""
    namespace = api.new_namespace()
    pod = {**template(8), "metadata": {"name": "gated"}}
    pod["spec"] = {**pod["spec"], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
    path = f"/api/v1/namespaces/{namespace}/pods"
    api.create(path, pod)
    other = {**template(8), "metadata": {"name": "other"}}
    api.create(path, other)
    bound(api, namespace, 1)
    assert not api.get(f"{path}/gated")["spec"].get("nodeName")
    api.patch(f"{path}/gated", {"spec": {"schedulingGates": None}})
    assert len(bound(api, namespace, 2)) == 2


def test_one_that_waits_says_why(replicas: tuple[Replica, Replica], api: Api) -> None:
    """`kubectl describe pod` shows condition and event with the reason and what unblocks it."""
    # One node more than there are: whatever else runs, it has to wait.
    namespace = api.new_namespace()
    for i in range(65):
        pod = {**template(8), "metadata": {"name": f"huge-{i}"}}
        pod["metadata"]["annotations"] = {
            "topology.scheduler/gang": "huge",
            "topology.scheduler/gang-size": "65",
        }
        api.create(f"/api/v1/namespaces/{namespace}/pods", pod)

    def message() -> str:
        pod = api.get(f"/api/v1/namespaces/{namespace}/pods/huge-0")
        conditions = pod["status"].get("conditions", [])
        return next(
            (
                one["message"]
                for one in conditions
                if one["type"] == "PodScheduled" and one.get("reason") == "Unschedulable"
            ),
            "",
        )

    text = eventually(
        lambda: message() if "members exist" not in message() else "",
        "the condition says why the whole gang waits",
    )
    assert "65 nodes" in text
    assert "To unblock: " in text
    events = eventually(
        lambda: [
            event
            for event in api.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")["items"]
            if event["reason"] == "FailedScheduling"
        ],
        "an event says so too",
    )
    assert events[0]["regarding"]["name"] == "huge-0"


def test_nothing_is_broken_in_the_end(replicas: tuple[Replica, Replica], api: Api) -> None:
    """Pages equal live pods, no device is shared, no gang lease is left over."""
    eventually(lambda: not breaches(api), "everything is at rest without a breach")
    eventually(lambda: sum(replica.leads for replica in replicas) == 1, "one replica leads")
