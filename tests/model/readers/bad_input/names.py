"""Names that hide something, are missing, or stand twice."""

from __future__ import annotations

from tests.model.readers.bad_input.made import ANNOTATION, Case, job_set, notes, without
from tests.model.readers.made import node, pod

CASES: dict[str, Case] = {
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
}
