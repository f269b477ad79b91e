"""Gangs, their groups and workloads, whose members or sizes disagree."""

from __future__ import annotations

from tests.model.readers.bad_input.made import (
    ANNOTATION,
    VOLCANO,
    Case,
    annotated,
    job_set,
    member,
    notes,
    ray,
    without_head,
)
from tests.model.readers.made import group, job, pod

CASES: dict[str, Case] = {
    "gang without a size": (
        [annotated("gang", "g")],
        "Pod ml/p",
        ANNOTATION % "gang-size",
        "how many pods",
    ),
    "size without a gang": (
        [annotated("gang-size", "4")],
        "Pod ml/p",
        ANNOTATION % "gang-size",
        "Name the gang",
    ),
    "gang of two Jobs": (
        [job(name, annotations=notes("g", "4"), parallelism=2) for name in ("train", "other")],
        "Job ml/train",
        ANNOTATION % "gang-size",
        "Leave topology.scheduler/gang",
    ),
    "size other than that of a group": (
        [
            pod(
                labels={"scheduling.x-k8s.io/pod-group": "g"},
                annotations={"topology.scheduler/gang-size": "2"},
            ),
            group("g", "scheduling.x-k8s.io/v1alpha1", minMember=1),
        ],
        "Pod ml/p",
        ANNOTATION % "gang-size",
        "nothing else groups",
    ),
    "priority class of a Volcano group": (
        [
            pod(annotations={"scheduling.k8s.io/group-name": "g"}),
            group("g", VOLCANO, minMember=1, priorityClassName="nope"),
        ],
        "PodGroup ml/g",
        "spec.priorityClassName",
        "Add the PriorityClass",
    ),
    "sizes differ": (
        [member("a", "2"), member("b", "3")],
        "Pod ml/b",
        ANNOTATION % "gang-size",
        "same size",
    ),
    "priorities differ": (
        [member("a", priority=1), member("b", priority=2)],
        "Pod ml/b",
        "spec.priority",
        "same priority",
    ),
    "schedulers differ": (
        [member("a"), member("b", schedulerName="default-scheduler")],
        "Pod ml/b",
        "spec.schedulerName",
        "same schedulerName",
    ),
    "members differ": (
        [
            member("a"),
            pod(
                "b",
                annotations={
                    "topology.scheduler/gang": "g",
                    "topology.scheduler/gang-size": "2",
                    "topology.scheduler/network-bandwidth": "100Gb",
                },
            ),
        ],
        "Pod ml/b",
        ANNOTATION % "network-bandwidth",
        "same annotation",
    ),
    "too many members": (
        [member("a"), member("b"), member("c")],
        "Pod ml/c",
        "metadata",
        "surplus",
    ),
    "gang across namespaces": (
        [member("a"), member("b", namespace="other")],
        "Pod other/b",
        "metadata.namespace",
        "one namespace",
    ),
    "group in another namespace": (
        [
            pod(labels={"scheduling.x-k8s.io/pod-group": "g"}, namespace="other"),
            group("g", "scheduling.x-k8s.io/v1alpha1", minMember=1),
        ],
        "Pod other/p",
        "metadata.namespace",
        "one namespace",
    ),
    "kueue without a total": (
        [pod(labels={"kueue.x-k8s.io/pod-group-name": "g"})],
        "Pod ml/p",
        "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]",
        "how many pods",
    ),
    "minMember zero": (
        [
            pod(labels={"scheduling.x-k8s.io/pod-group": "g"}),
            group("g", "scheduling.x-k8s.io/v1alpha1", minMember=0),
        ],
        "PodGroup ml/g",
        "spec.minMember",
        "from 1",
    ),
    "no policy": (
        [
            pod(schedulingGroup={"podGroupName": "g"}),
            group("g", "scheduling.k8s.io/v1beta1", schedulingPolicy={}),
        ],
        "PodGroup ml/g",
        "spec.schedulingPolicy",
        "gang with a minCount",
    ),
    "parallelism": ([job(parallelism=-1)], "Job ml/train", "spec.parallelism", "from 0"),
    "parallelism fraction": ([job(parallelism=1.5)], "Job ml/train", "spec.parallelism", "whole"),
    "parallelism enormous": ([job(parallelism=2**31 - 1)], "Job ml/train", "spec", "pods"),
    "two replicated jobs of one name": (
        [job_set("a", "b", "a")],
        "JobSet ml/js",
        "spec.replicatedJobs[2].name",
        "its own name",
    ),
    "two worker groups of one name": (
        [ray("w", "w")],
        "RayCluster ml/r",
        "spec.workerGroupSpecs[1].groupName",
        "its own name",
    ),
    "two worker groups without a name": (
        [ray(None, None)],
        "RayCluster ml/r",
        "spec.workerGroupSpecs[1].groupName",
        "its own name",
    ),
    "Ray without a head": (
        [without_head(ray("w"))],
        "RayCluster ml/r",
        "spec.headGroupSpec",
        "template for the head",
    ),
    "Ray whose head names no scheduler": (
        [ray("w", head={"spec": {"containers": []}})],
        "RayCluster ml/r",
        "spec.headGroupSpec.template.spec.schedulerName",
        "same schedulerName",
    ),
    "device map": (
        [pod("p-0", annotations={"gpu-scheduling-map": "0=n1"})],
        "Pod ml/p-0",
        "metadata.annotations[gpu-scheduling-map]",
        "0=node-a:0,1",
    ),
    "device map without the pod": (
        [pod("p-7", annotations={"gpu-scheduling-map": "0=n1:0,1"})],
        "Pod ml/p-7",
        "metadata.annotations[gpu-scheduling-map]",
        "Add a line",
    ),
}
