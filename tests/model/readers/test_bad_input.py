"""Bad input is refused by file, object and field, with advice, and never crashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model.problems import BadInput
from model.readers import Source, open_paths, read
from model.reasons import ReasonKind
from tests.model.readers.objects import (
    TEMPLATE,
    config,
    group,
    job,
    node,
    owned,
    owner,
    pod,
    reading,
)

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


CASES: dict[str, tuple[list[dict[str, Any]], str, str, str]] = {
    "strategy": (
        [annotated("placement-strategy", "packed")],
        "Pod ml/p",
        ANNOTATION % "placement-strategy",
        "consolidated, distributed, balanced",
    ),
    "policy": (
        [annotated("topology-policy", "required")],
        "Pod ml/p",
        ANNOTATION % "topology-policy",
        "Required, Preferred",
    ),
    "latency": (
        [annotated("latency-sensitive", "yes")],
        "Pod ml/p",
        ANNOTATION % "latency-sensitive",
        "true, false",
    ),
    "bandwidth unit": (
        [annotated("network-bandwidth", "100GB")],
        "Pod ml/p",
        ANNOTATION % "network-bandwidth",
        "100Gb",
    ),
    "bandwidth zero": (
        [annotated("network-bandwidth", "0Gb")],
        "Pod ml/p",
        ANNOTATION % "network-bandwidth",
        "above zero",
    ),
    "unknown annotation": (
        [annotated("prefered-domain", "leaf-1")],
        "Pod ml/p",
        ANNOTATION % "prefered-domain",
        "Did you mean topology.scheduler/preferred-domain?",
    ),
    "annotation of a number": (
        [annotated("gpu-count", 8)],
        "Pod ml/p",
        ANNOTATION % "gpu-count",
        "quotes",
    ),
    "count zero": ([annotated("gpu-count", "0")], "Pod ml/p", ANNOTATION % "gpu-count", "from 1"),
    "count negative": (
        [annotated("gpu-count", "-8")],
        "Pod ml/p",
        ANNOTATION % "gpu-count",
        "whole number",
    ),
    "count fraction": (
        [annotated("gpu-count", "7.5")],
        "Pod ml/p",
        ANNOTATION % "gpu-count",
        "whole number",
    ),
    "count huge": (
        [annotated("gpu-count", "9" * 5000)],
        "Pod ml/p",
        ANNOTATION % "gpu-count",
        "smaller",
    ),
    "count in other digits": (
        [annotated("gpu-count", "٨")],
        "Pod ml/p",
        ANNOTATION % "gpu-count",
        "whole number",
    ),
    "count not divisible": (
        [job(gpus=None, annotations={"topology.scheduler/gpu-count": "10"}, parallelism=4)],
        "Job ml/train",
        ANNOTATION % "gpu-count",
        "multiple of 4",
    ),
    "count disagrees": (
        [annotated("gpu-count", "4")],
        "Pod ml/p",
        ANNOTATION % "gpu-count",
        "total of the gang (8)",
    ),
    "limit negative": ([pod(gpus="-1")], "Pod ml/p", LIMIT, "zero or more"),
    "limit fraction": ([pod(gpus="1.5")], "Pod ml/p", LIMIT, "whole number"),
    "limit milli": ([pod(gpus="500m")], "Pod ml/p", LIMIT, "whole number"),
    "limit huge": ([pod(gpus="9E99")], "Pod ml/p", LIMIT, "2^63"),
    "limit in other digits": ([pod(gpus="\uff18")], "Pod ml/p", LIMIT, "Write it like"),
    "limit is true": ([pod(gpus=True)], "Pod ml/p", LIMIT, "Write it like"),
    "limit of an unknown unit": ([pod(gpus="8Q")], "Pod ml/p", LIMIT, "Units are"),
    "request below limit": (
        [
            pod(
                containers=[{"resources": {"limits": {GPU: 8}, "requests": {GPU: 4}}}],
            )
        ],
        "Pod ml/p",
        f"spec.containers[0].resources.requests[{GPU}]",
        "same amount",
    ),
    "two kinds of GPU": (
        [pod(containers=[{"resources": {"limits": {GPU: 1, "amd.com/gpu": 1}}}])],
        "Pod ml/p",
        "spec.containers[*].resources",
        "one GPU resource",
    ),
    "containers no list": ([pod(containers={})], "Pod ml/p", "spec.containers", "list"),
    "container no object": ([pod(containers=["x"])], "Pod ml/p", "spec.containers[0]", "key"),
    "labels of numbers": ([pod(labels={"a": 1})], "Pod ml/p", "metadata.labels[a]", "quotes"),
    "spec no object": ([pod() | {"spec": []}], "Pod ml/p", "spec", "key"),
    "host port": (
        [pod(containers=[{"ports": [{"hostPort": 70000}]}])],
        "Pod ml/p",
        "spec.containers[0].ports[0].hostPort",
        "0 to 65535",
    ),
    "operator": (
        [affine(key="a", operator="Is", values=["b"])],
        "Pod ml/p",
        f"{AFFINITY}.nodeSelectorTerms[0].matchExpressions[0].operator",
        "NotIn",
    ),
    "In without values": (
        [affine(key="a", operator="In")],
        "Pod ml/p",
        f"{AFFINITY}.nodeSelectorTerms[0].matchExpressions[0].values",
        "at least one",
    ),
    "Gt of a word": (
        [affine(key="a", operator="Gt", values=["many"])],
        "Pod ml/p",
        f"{AFFINITY}.nodeSelectorTerms[0].matchExpressions[0].values",
        "one whole number",
    ),
    "toleration": (
        [pod(tolerations=[{"key": "a", "operator": "Equals"}])],
        "Pod ml/p",
        "spec.tolerations[0].operator",
        "Equal, Exists",
    ),
    "creation time": (
        [pod() | {"metadata": {"name": "p", "namespace": "ml", "creationTimestamp": "soon"}}],
        "Pod ml/p",
        "metadata.creationTimestamp",
        "2026-01-31T12:00:00Z",
    ),
    "priority class": (
        [pod(priorityClassName="gold")],
        "Pod ml/p",
        "spec.priorityClassName",
        "system-node-critical",
    ),
    "no name": ([pod() | {"metadata": {}}], "Pod items[0]", "metadata.name", "name"),
    "no kind": ([without(pod(), "kind")], "items[0]", "kind", "kind: Pod"),
    "no version": ([without(pod(), "apiVersion")], "items[0]", "apiVersion", "apiVersion: v1"),
    "pod name of two lines": (
        [pod("p\nq")],
        "Pod items[0]",
        "metadata.name",
        "a-z, 0-9",
    ),
    "pod name in capitals": ([pod("P")], "Pod items[0]", "metadata.name", "a-z, 0-9"),
    "node name that moves the cursor": (
        [node("n\x1b[2J")],
        "Node items[0]",
        "metadata.name",
        "a-z, 0-9",
    ),
    "namespace of two lines": (
        [pod(namespace="ml\n")],
        "Pod p",
        "metadata.namespace",
        "a-z, 0-9",
    ),
    "kind of two lines": ([pod() | {"kind": "Pod\n"}], "items[0]", "kind", "kind: Pod"),
    "gang of two lines": (
        [pod(annotations=notes("g\nh", "1"))],
        "Pod ml/p",
        ANNOTATION % "gang",
        "letters, digits",
    ),
    "group label that hides": (
        [pod(labels={"scheduling.x-k8s.io/pod-group": "g\u202e"})],
        "Pod ml/p",
        "metadata.labels[scheduling.x-k8s.io/pod-group]",
        "letters, digits",
    ),
    "leaf of two lines": (
        [node("n1"), node("n2", "leaf\n2")],
        "Node n2",
        "metadata.labels[topology.scheduler/leaf]",
        "63 letters",
    ),
    "spine that moves the cursor": (
        [node("n1"), node("n2", spine="s\x1b[31m")],
        "Node n2",
        "metadata.labels[topology.scheduler/spine]",
        "63 letters",
    ),
    "replicated job of two lines": (
        [job_set("a\nb")],
        "JobSet ml/js",
        "spec.replicatedJobs[0].name",
        "a-z, 0-9",
    ),
    "same pod twice": ([pod(), pod()], "Pod ml/p", "metadata.name", "Keep one"),
    "same node twice": ([node(), node()], "Node n1", "metadata.name", "Keep one"),
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
    "node amount": (
        [node(status={"allocatable": {GPU: "-8"}})],
        "Node n1",
        f"status.allocatable[{GPU}]",
        "zero or more",
    ),
    "node of two GPU kinds": (
        [node(status={"allocatable": {GPU: 8, "amd.com/gpu": 8}})],
        "Node n1",
        "status.allocatable",
        "one GPU resource",
    ),
    "taint": (
        [node(spec={"taints": [{"key": "a", "effect": "Never"}]})],
        "Node n1",
        "spec.taints[0].effect",
        "NoSchedule",
    ),
    "failure rate": (
        [
            node(
                metadata={
                    "name": "n1",
                    "annotations": {"topology.scheduler/failure-rate": "12%"},
                }
            )
        ],
        "Node n1",
        ANNOTATION % "failure-rate",
        "0 to 1",
    ),
    "one node without a leaf": (
        [node(), node("n2", None)],
        "Node n2",
        "metadata.labels[topology.scheduler/leaf]",
        "isolate",
    ),
    "no node with a leaf": (
        [node("n1", None)],
        "SchedulerConfig",
        "spec.topology",
        "topology.scheduler/leaf",
    ),
    "two presets fit": (
        [
            labelled(
                **{
                    "topology.scheduler/leaf": "a",
                    "topology.scheduler/spine": "b",
                    "fabric.topograph.run/tier-0": "a",
                    "fabric.topograph.run/tier-1": "b",
                }
            )
        ],
        "SchedulerConfig",
        "spec.topology.preset",
        "plain, topograph",
    ),
    "unknown preset": (
        [node(), config(topology={"preset": "gce"})],
        CONFIG,
        "spec.topology.preset",
        "gke",
    ),
    "unknown level": (
        [node(), config(topology={"levels": [{"nodeLabel": "rack"}]})],
        "Node n1",
        "metadata.labels[rack]",
        "Label the node",
    ),
    "levels of hosts alone": (
        [node(), config(topology={"levels": [{"nodeLabel": "kubernetes.io/hostname"}]})],
        CONFIG,
        "spec.topology.levels",
        "leaf switch",
    ),
    "uplink of no leaf": (
        [node(), config(network={"uplinks": {"leaf-9": "1Tb"}})],
        CONFIG,
        "spec.network.uplinks[leaf-9]",
        "leaf-1",
    ),
    "edge of no leaf": (
        [
            node(),
            config(topology={"adjacency": {"kind": "explicit", "edges": [["leaf-1", "leaf-9"]]}}),
        ],
        CONFIG,
        "spec.topology.adjacency.edges[0]",
        "leaf-1",
    ),
    "domain of no leaf": (
        [node(), config(namespaces={"ml": {"domains": ["leaf-9"]}})],
        CONFIG,
        "spec.namespaces[ml].domains",
        "leaf-1",
    ),
    "adjacency": (
        [config(topology={"adjacency": {"kind": "nearby"}})],
        CONFIG,
        "spec.topology.adjacency.kind",
        "consecutive",
    ),
    "config field": (
        [config(scoringWeight={"topologyAlignment": 1})],
        CONFIG,
        "spec.scoringWeight",
        "spelling",
    ),
    "scheduler name": (
        [config(schedulerNames=['a"b'])],
        CONFIG,
        "spec.schedulerNames[0]",
        "gpu-scheduler",
    ),
    "uplink bandwidth of zero": (
        [config(network={"uplinkBandwidth": "0Gb"})],
        CONFIG,
        "spec.network.uplinkBandwidth",
        "above zero",
    ),
    "node bandwidth of many digits": (
        [config(network={"nodeBandwidth": "9" * 20 + "Tb"})],
        CONFIG,
        "spec.network.nodeBandwidth",
        "9 digits",
    ),
    "uplink finer than a megabit": (
        [config(network={"uplinkBandwidth": "0.5Mb"})],
        CONFIG,
        "spec.network.uplinkBandwidth",
        "whole number of Mbit/s",
    ),
    "uplink of one leaf of many digits": (
        [config(network={"uplinks": {"leaf-1": "0.0000001Tb"}})],
        CONFIG,
        "spec.network.uplinks.leaf-1",
        "6 after it",
    ),
    "bandwidth without a unit": (
        [config(network={"uplinkBandwidth": "100"})],
        CONFIG,
        "spec.network.uplinkBandwidth",
        "100Gb",
    ),
    "no GPU resource": ([config(gpuResources=[])], CONFIG, "spec.gpuResources", "at least one"),
    "GPU resource of Kubernetes": (
        [config(gpuResources=["cpu"])],
        CONFIG,
        "spec.gpuResources[0]",
        "nvidia.com/gpu",
    ),
    "no scheduler name": (
        [config(schedulerNames=[])],
        CONFIG,
        "spec.schedulerNames",
        "at least one",
    ),
    "scheduler name of blanks": (
        [config(schedulerNames=["our scheduler"])],
        CONFIG,
        "spec.schedulerNames[0]",
        "letters, digits",
    ),
    "device class": (
        [config(devices={"deviceClasses": ["GPU"]})],
        CONFIG,
        "spec.devices.deviceClasses[0]",
        "DeviceClass",
    ),
    "one label for two levels": (
        [config(topology={"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "rack"}]})],
        CONFIG,
        "spec.topology",
        "of its own",
    ),
    "shares above one": (
        [config(fragmentation={"mix": [{"nodes": 2, "share": 0.9}, {"nodes": 4, "share": 0.9}]})],
        CONFIG,
        "spec.fragmentation",
        "at most 1",
    ),
    "two shares of one size": (
        [config(fragmentation={"mix": [{"nodes": 2, "share": 0.4}, {"nodes": 2, "share": 0.4}]})],
        CONFIG,
        "spec.fragmentation",
        "one entry",
    ),
    "two configs": (
        [config(), config() | {"kind": "TopologySchedulerConfig"}],
        "TopologySchedulerConfig kube-system/topology-scheduler-config",
        "kind",
        "one configuration",
    ),
    "config map without a config": (
        [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "topology-scheduler-config"},
                "data": {"a": "b: 1"},
            }
        ],
        "ConfigMap default/topology-scheduler-config",
        "data",
        "SchedulerConfig",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_names_object_and_field_and_advises(case: str) -> None:
    """Each case is refused with its object, field and advice, and held or left out if lenient."""
    bodies, title, field, advice = CASES[case]
    with pytest.raises(BadInput) as caught:
        reading(*bodies)
    found = [p for p in caught.value.problems if (p.object, p.field) == (title, field)]
    problems = [(p.object, p.field, p.advice) for p in caught.value.problems]
    assert found, problems
    assert advice in found[0].advice
    assert found[0].source in ("in.json", "built-in defaults")
    lenient = reading(*bodies, strict=False)
    assert any(problem.is_error for problem in lenient.problems)
    placeable = [gang for gang in lenient.snapshot.gangs if gang.hold is None]
    if (
        title.startswith(("Pod ", "Job ", "JobSet ", "RayCluster "))
        and "twice" not in case
        and "differ" not in case
    ):
        assert not placeable


DEEP = 100_000
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)
TEXTS: dict[str, tuple[str, bytes, str, str]] = {
    "NaN": ("a.json", b'{"kind": NaN}', "not JSON", "Correct"),
    "duplicate key": ("a.json", b'{"a": 1, "a": 2}', 'key "a" twice', "Keep one"),
    "duplicate hidden by an escape": (
        "a.json",
        b'{"a": "x", "a": "y\\u003a"}',
        'key "a" twice',
        "Keep one",
    ),
    "deep lists": ("a.json", b"[" * DEEP + b"]" * DEEP, "too deeply", "250 levels"),
    "deep objects": ("a.json", b'{"a":' * DEEP, "too deeply", "250 levels"),
    "moderately deep": ("a.json", b"[" * 900 + b"]" * 900, "too deeply", "250 levels"),
    "truncated JSON": ("a.json", b'{"kind": "Pod", "spec": {"co', "too early", "truncated"),
    "truncated YAML": ("a.yaml", b'kind: "Pod\nspec:', "too early", "truncated"),
    "empty": ("a.json", b"", "empty", "at least one object"),
    "blank YAML": ("a.yaml", b"---\n# nothing\n---\n", "no object", "at least one object"),
    "binary": ("a.yaml", b"\x7fELF\0\0\0", "binary", "UTF-8"),
    "not UTF-8 YAML": ("a.yaml", b"a: \xff\xfe", "UTF-8", "UTF-8"),
    "not UTF-8 JSON": ("a.json", b'{"a": "\xff"}', "UTF-8", "UTF-8"),
    "YAML duplicate key": ("a.yaml", b"a: 1\na: 2\n", "twice", "Keep one"),
    "YAML aliases that explode": ("a.yaml", BOMB.encode(), "aliases that expand", "Write"),
    "YAML deep": ("a.yaml", b"a: " + b"[" * DEEP, "too deeply", "less nesting"),
    "YAML NaN": ("a.yaml", b"a: .nan", "not finite", "Give a number"),
    "YAML tab": ("a.yaml", b"a:\n\tb: 1", "not YAML", "Correct"),
    "YAML unknown alias": ("a.yaml", b"a: *b", "not YAML", "Correct"),
    "YAML key of a list": ("a.yaml", b"? [a]\n: 1", "no plain text", "plain text"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_refuses_the_file_by_name(case: str) -> None:
    """A file that cannot be decoded is refused by its name, with what is wrong and advice."""
    name, data, message, advice = TEXTS[case]
    with pytest.raises(BadInput) as caught:
        read([Source(name, data)])
    (problem,) = caught.value.problems
    assert problem.source == name
    assert message in problem.message
    assert advice in problem.advice


def test_a_200_mb_file_is_refused_unread(tmp_path: Path) -> None:
    """A sparse file of 200 MB is refused by its size, so no byte of it is held."""
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    (source,) = open_paths([path])
    assert source.data == b""
    with pytest.raises(BadInput, match=r"huge\.json: .*larger than 160 MiB\n  Split it"):
        read([source])


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a folder without manifests are named with advice."""
    sources = open_paths([tmp_path / "missing.yaml", tmp_path, "-"])
    with pytest.raises(BadInput) as caught:
        read(sources)
    messages = [problem.message for problem in caught.value.problems]
    assert "No such file" in messages[0]
    assert messages[1] == "has no manifest"
    assert messages[2] == "is not connected"


def test_all_errors_are_reported_and_fifty_printed() -> None:
    """Sixty broken pods give sixty problems, of which fifty are printed."""
    with pytest.raises(BadInput) as caught:
        reading(*[pod(f"p-{i}", gpus="x") for i in range(60)])
    assert len(caught.value.problems) == 60
    assert str(caught.value).endswith("and 10 more problems")


def test_a_problem_is_one_line_whatever_it_names() -> None:
    """Keys of the input stand in fields, so what they hold must not end the line either."""
    with pytest.raises(BadInput) as caught:
        reading(pod(labels={"a\nb\x1b": 1}))
    first, second = str(caught.value).split("\n")
    assert "metadata.labels[a?b?]" in first
    assert second.startswith("  ")
    assert str(caught.value).replace("\n", "").isprintable()


def test_first_line_names_and_next_line_advises() -> None:
    """A problem is printed as one line of facts and one line of advice."""
    with pytest.raises(BadInput) as caught:
        reading(pod(gpus="x"))
    first, second = str(caught.value).splitlines()
    assert first == (
        "error: in.json: Pod ml/p: spec.containers[0].resources.limits[nvidia.com/gpu]"
        ' = "x": is not a quantity'
    )
    assert second == '  Write it like "8", "500m" or "64Gi".'


def test_lenient_reading_keeps_what_is_sound() -> None:
    """A broken node is left out, a broken gang is held as Invalid, the rest is read."""
    found = reading(
        node("n1"),
        node("n2", status={"allocatable": {"cpu": "x"}}),
        pod("bad", gpus="x"),
        pod("good"),
        strict=False,
    )
    assert list(found.snapshot.fabric.nodes) == ["n1"]
    bad, good = found.snapshot.gangs
    assert bad.hold is not None
    assert bad.hold.kind == ReasonKind.INVALID
    assert good.hold is None
    assert len(found.problems) == 2


def test_members_missing_is_a_hold_not_an_error() -> None:
    """Two of three members are no mistake: the rest may still come, so the gang is held."""
    (gang,) = reading(member("a", "3"), member("b", "3")).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.MEMBERS_MISSING
    assert dict(gang.hold.counts) == {"present": 2, "needed": 3, "bound": 0}


def test_pods_of_other_schedulers_are_not_checked() -> None:
    """A waiting pod of another scheduler is ignored, whatever its annotations say."""
    foreign = annotated("strategy", "x")
    foreign["spec"]["schedulerName"] = "default-scheduler"
    assert reading(foreign).snapshot.gangs == ()


def test_owner_that_reaches_itself_ends() -> None:
    """Owner references in a circle are followed once around."""
    first = owned(job("a", parallelism=2), "Job", "b")
    second = owned(job("b", parallelism=2), "Job", "a")
    found = reading(first, second, owned(pod("a-0"), "Job", "a"), strict=False)
    assert [str(gang.key) for gang in found.snapshot.gangs] == ["ml/a"]


def test_a_scheduler_that_nobody_names_is_not_quoted() -> None:
    """The head names no scheduler, so none is shown: "default-scheduler" is not in the file."""
    (problem,) = reading(ray("w", head={"spec": {"containers": []}}), strict=False).problems
    assert problem.value == ""
    assert problem.message.startswith("is not set, unlike topology-aware-scheduler of ")
