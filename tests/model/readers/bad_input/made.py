"""Objects to make mistakes in, and the type of a case."""

from __future__ import annotations

from typing import Any

from tests.model.readers.made import TEMPLATE, node, owner, pod

Case = tuple[list[dict[str, Any]], str, str, str]
"""Objects, and of what is told: the object, the field, and a part of the advice."""

GPU = "nvidia.com/gpu"
LIMIT = f"spec.containers[0].resources.limits[{GPU}]"
ANNOTATION = "metadata.annotations[topology.scheduler/%s]"
CONFIG = "SchedulerConfig kube-system/topology-scheduler-config"
VOLCANO = "scheduling.volcano.sh/v1beta1"
AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def annotated(name: str, value: Any) -> dict[str, Any]:
    """Make a pod with one annotation of ours."""
    return pod(annotations={f"topology.scheduler/{name}": value})


def notes(gang: str, size: str) -> dict[str, str]:
    """Make the annotations of a gang of our own."""
    return {"topology.scheduler/gang": gang, "topology.scheduler/gang-size": size}


def member(name: str, size: str = "2", **fields: Any) -> dict[str, Any]:
    """Make a member of the annotated gang g."""
    return pod(name, annotations=notes("g", size), **fields)


def affine(**requirement: Any) -> dict[str, Any]:
    """Make a pod with one required node affinity expression."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    return pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})


def labelled(**labels: str) -> dict[str, Any]:
    """Make a node with these labels alone."""
    return node(metadata={"name": "n1", "labels": labels})


def without(body: dict[str, Any], key: str) -> dict[str, Any]:
    """Drop one key of `body`."""
    return {name: value for name, value in body.items() if name != key}


def job_set(*names: str) -> dict[str, Any]:
    """Make a JobSet with a replicated job of one pod for each name."""
    jobs = [{"name": name, "template": {"spec": {"template": TEMPLATE}}} for name in names]
    return owner("JobSet", "jobset.x-k8s.io/v1alpha2", "js", replicatedJobs=jobs)


def ray(*groups: str | None, head: dict[str, Any] | None = None) -> dict[str, Any]:
    """Make a RayCluster with a worker group of one pod for each name."""
    workers = [{"groupName": name, "replicas": 1, "template": TEMPLATE} for name in groups]
    heads = {"template": TEMPLATE if head is None else head}
    return owner("RayCluster", "ray.io/v1", "r", headGroupSpec=heads, workerGroupSpecs=workers)


def without_head(body: dict[str, Any]) -> dict[str, Any]:
    """Drop the head of a RayCluster."""
    return body | {"spec": without(body["spec"], "headGroupSpec")}
