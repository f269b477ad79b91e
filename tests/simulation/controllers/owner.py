"""Owners of gangs, as their users write them, and what the pods that they make look like."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Literal

from fourleaf.k8s_bridge.cluster.kinds import JOB_SETS, JOBS, Kind
from fourleaf.k8s_bridge.cluster.memory.actors import pod
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.readers.gangs.dialects import JOB_SET_NAME, REPLICATED_JOB
from tests.simulation.controllers.backoff import JobBackoff
from tests.twins.jobs import INDEX

OwnerKindName = Literal["Job", "JobSet", "PyTorchJob"]

PYTORCH_JOBS = Kind("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", makes_pods=True)
KINDS: dict[OwnerKindName, Kind] = {
    "Job": JOBS,
    "JobSet": JOB_SETS,
    "PyTorchJob": PYTORCH_JOBS,
}
_WORKERS = "w"
"""What JobSets call their replicated Job."""


@dataclass(slots=True)
class Owner:
    """What makes the pods of a gang: a Job, a JobSet of `parts` Jobs, or a PyTorchJob.

    Jobs back off after failures, `per_index` or all together; a JobSet that `starts_over` makes all
    of its Jobs again as soon as one pod has failed. `uid` is that of the object, "" before it is
    made; `is_starting_over` until the last old pod is gone.
    """

    kind: OwnerKindName
    parts: int = 1
    per_index: bool = False
    starts_over: bool = False
    uid: str = ""
    is_starting_over: bool = False
    backoffs: list[JobBackoff] = field(default_factory=list)

    @property
    def backs_off(self) -> bool:
        """Whether the next pod takes its time."""
        return self.kind != "PyTorchJob"

    def fresh(self) -> Owner:
        """The same, to be made once more."""
        return Owner(self.kind, self.parts, self.per_index, self.starts_over)

    def position(self, size: int, index: int) -> tuple[int, int]:
        """Which of its Jobs makes the member of that index, and its index there."""
        return divmod(index, size // self.parts)

    def pod_name(self, name: str, size: int, index: int, number: int) -> str:
        """What the pod of that index is called, the one of that number in the gang's life."""
        if self.kind == "PyTorchJob":
            return f"{name}-worker-{index - 1}" if index else f"{name}-master-0"
        part, inner = self.position(size, index)
        return f"{self.job_name(name, part)}-{inner}-{number:05}"

    def job_name(self, name: str, part: int) -> str:
        """What one of its Jobs is called."""
        return f"{name}-{_WORKERS}-{part}" if self.kind == "JobSet" else name

    def pods(self, name: str, size: int, gpus: int, annotations: dict[str, str]) -> list[Body]:
        """The first pod of each index, without its owner."""
        return [
            pod(
                self.pod_name(name, size, index, index),
                gpus,
                annotations=dict(annotations),
                labels=self._labels(name, size, index),
            )
            for index in range(size)
        ]

    def _labels(self, name: str, size: int, index: int) -> dict[str, str]:
        if self.kind == "PyTorchJob":
            role, number = ("worker", index - 1) if index else ("master", 0)
            prefix = "training.kubeflow.org"
            return {
                f"{prefix}/job-name": name,
                f"{prefix}/replica-type": role,
                f"{prefix}/replica-index": str(number),
            }
        part, inner = self.position(size, index)
        labels = {INDEX: str(inner), "batch.kubernetes.io/job-name": self.job_name(name, part)}
        if self.kind == "JobSet":
            labels |= {JOB_SET_NAME: name, REPLICATED_JOB: _WORKERS}
        return labels

    def body(self, name: str, size: int) -> Body:
        """The object that users create."""
        spec = self.job_spec(size)
        if self.kind == "JobSet":
            part = {"name": _WORKERS, "replicas": self.parts, "template": {"spec": spec}}
            spec = {"replicatedJobs": [part]}
        elif self.kind == "PyTorchJob":
            roles = {"Master": 1, "Worker": size - 1}
            spec = {
                "pytorchReplicaSpecs": {
                    role: {"replicas": count, "template": {}} for role, count in roles.items()
                }
            }
        return {"metadata": {"name": name}, "spec": spec}

    def job_spec(self, size: int) -> Body:
        """The spec of each of its Jobs."""
        each = size // self.parts
        spec: Body = {"parallelism": each, "completions": each, "completionMode": "Indexed"}
        if self.per_index:
            spec["backoffLimitPerIndex"] = 100
        return {**spec, "template": {"metadata": {}, "spec": {}}}


def drawn_owner(chance: random.Random, size: int) -> Owner:
    """Some owner of a gang of that size; every second one is a Job."""
    kinds: tuple[OwnerKindName, ...] = ("Job", "Job", "JobSet", "PyTorchJob")
    kind = chance.choice(kinds)
    two, per_index, starts_over = (chance.random() < 0.5 for _ in range(3))
    is_set = kind == "JobSet"
    return Owner(kind, 1 + (is_set and two and size % 2 == 0), per_index, is_set and starts_over)


def reference(kind: Kind, name: str, uid: str) -> Body:
    """What a pod, or a Job, says of who controls it."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "name": name,
        "uid": uid,
        "controller": True,
    }
