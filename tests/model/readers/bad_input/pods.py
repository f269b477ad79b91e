"""Pods whose annotations, resources or fields make no sense."""

from __future__ import annotations

from tests.model.readers.bad_input.made import (
    AFFINITY,
    ANNOTATION,
    GPU,
    LIMIT,
    Case,
    affine,
    annotated,
)
from tests.model.readers.made import job, pod

CASES: dict[str, Case] = {
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
}
