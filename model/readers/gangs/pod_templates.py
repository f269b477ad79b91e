"""The pods that each kind of owner makes: their names, their templates, their labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fourleaf.model.config.owner_kinds import OwnerKind
from fourleaf.model.readers.gangs.dialects import (
    JOB_SET_NAME,
    LWS_GROUP,
    LWS_NAME,
    RAY_CLUSTER,
    REPLICATED_JOB,
)
from fourleaf.model.readers.gangs.minimum_size import (
    job_parallelism,
    job_succeeded,
    ray_workers,
    spec_of,
)
from fourleaf.model.readers.gangs.pod_sets import pod_sets_of
from fourleaf.model.readers.objects.manifest import EMPTY, Body, Manifest
from fourleaf.model.readers.pods.pod_index import JOB_INDEX, WORKER_INDEX
from fourleaf.model.readers.pods.pods import JOBSET_JOB_INDEX, RAY_NODE_TYPE

MAX_PODS = 100_000
"""Pods that one input may expand to."""


@dataclass(frozen=True, slots=True)
class PodBatch:
    """Pods from one template: their names and what distinguishes their labels.

    `named` is the field that their names come from, `called` what stands there.
    """

    template: object
    field: str
    names: tuple[str, ...]
    labels: tuple[dict[str, str], ...]
    named: str = "metadata.name"
    called: object = None


def _numbered(template: object, field: str, prefix: str, count: int, label: str = "") -> PodBatch:
    some = range(min(count, MAX_PODS + 1))
    return PodBatch(
        template,
        field,
        tuple(f"{prefix}-{i}" for i in some),
        tuple({label: str(i)} if label else EMPTY for i in some),
    )


def batches(owner: Manifest, kind: OwnerKind | None = None) -> Iterator[PodBatch]:
    """The pods of one owner, template by template; `kind` describes it where no code does."""
    spec = spec_of(owner)
    if kind is not None:
        yield from _of_pod_sets(owner, kind)
        return
    template = spec.get("template")
    match owner.kind:
        case "Job":
            count = job_parallelism(owner, spec)
            if spec.get("completions") is not None:
                left = owner.whole(spec["completions"], "spec.completions", 1)
                count = min(count, max(0, left - job_succeeded(owner)))
            yield _numbered(template, "spec.template", owner.name, count, JOB_INDEX)
        case "Deployment" | "StatefulSet":
            count = owner.whole(spec.get("replicas"), "spec.replicas", 1)
            yield _numbered(template, "spec.template", owner.name, count)
        case "JobSet":
            yield from _of_job_set(owner, spec)
        case "LeaderWorkerSet":
            yield from _of_lws(owner, spec)
        case _:
            yield from _of_ray(owner, spec)


def _of_pod_sets(owner: Manifest, kind: OwnerKind) -> Iterator[PodBatch]:
    for one in pod_sets_of(owner, kind):
        if one.template is None:
            continue
        own = {kind.name_label: owner.name} if kind.name_label else {}
        if kind.role_label:
            own[kind.role_label] = one.said.role
        name = f"{owner.name}-{one.key.lower()}"
        some = range(min(one.replicas, MAX_PODS + 1))
        alone = one.said.replicas is None
        yield PodBatch(
            one.template,
            f"{one.field}.{one.said.template}",
            (name,) if alone else tuple(f"{name}-{i}" for i in some),
            tuple(own for _ in some),
            one.field,
            one.key,
        )


def _of_job_set(owner: Manifest, spec: Body) -> Iterator[PodBatch]:
    number = 0
    for path, body in owner.mappings(spec.get("replicatedJobs"), "spec.replicatedJobs"):
        called = owner.text(body.get("name"), f"{path}.name", "job")
        replicas = owner.whole(body.get("replicas"), f"{path}.replicas", 1)
        template = owner.mapping(body.get("template"), f"{path}.template")
        job = owner.mapping(template.get("spec"), f"{path}.template.spec")
        count = job_parallelism(owner, job, f"{path}.template.spec")
        names, labels = [], []
        for replica in range(min(replicas, MAX_PODS)):
            for i in range(min(count, MAX_PODS)):
                names.append(f"{owner.name}-{called}-{replica}-{i}")
                labels.append(
                    {
                        JOB_SET_NAME: owner.name,
                        REPLICATED_JOB: called,
                        JOBSET_JOB_INDEX: str(number + replica),
                        JOB_INDEX: str(i),
                    }
                )
            if len(names) > MAX_PODS:
                break
        number += replicas
        yield PodBatch(
            job.get("template"),
            f"{path}.template.spec.template",
            tuple(names),
            tuple(labels),
            f"{path}.name",
            body.get("name"),
        )


def _of_lws(owner: Manifest, spec: Body) -> Iterator[PodBatch]:
    field = "spec.leaderWorkerTemplate"
    both = owner.mapping(spec.get("leaderWorkerTemplate"), field)
    replicas = owner.whole(spec.get("replicas"), "spec.replicas", 1)
    size = owner.whole(both.get("size"), f"{field}.size", 1, 1)
    leader = "leaderTemplate" if both.get("leaderTemplate") else "workerTemplate"
    for group in range(min(replicas, MAX_PODS)):
        own = {LWS_NAME: owner.name, LWS_GROUP: str(group)}
        name = f"{owner.name}-{group}"
        yield PodBatch(
            both.get(leader), f"{field}.{leader}", (name,), ({**own, WORKER_INDEX: "0"},)
        )
        workers = range(1, min(size, MAX_PODS + 2))
        yield PodBatch(
            both.get("workerTemplate"),
            f"{field}.workerTemplate",
            tuple(f"{name}-{i}" for i in workers),
            tuple({**own, WORKER_INDEX: str(i)} for i in workers),
        )


def _of_ray(owner: Manifest, spec: Body) -> Iterator[PodBatch]:
    own = {RAY_CLUSTER: owner.name}
    if spec.get("headGroupSpec") is None:
        advice = "Give it a template for the head, without which no RayCluster starts."
        owner.error("spec.headGroupSpec", None, "is missing", advice)
    else:
        head = owner.mapping(spec["headGroupSpec"], "spec.headGroupSpec")
        yield PodBatch(
            head.get("template"),
            "spec.headGroupSpec.template",
            (f"{owner.name}-head",),
            ({**own, RAY_NODE_TYPE: "head"},),
        )
    for path, body in owner.mappings(spec.get("workerGroupSpecs"), "spec.workerGroupSpecs"):
        called = owner.text(body.get("groupName"), f"{path}.groupName", "workers")
        some = range(min(ray_workers(owner, path, body), MAX_PODS + 1))
        yield PodBatch(
            body.get("template"),
            f"{path}.template",
            tuple(f"{owner.name}-{called}-worker-{i}" for i in some),
            tuple({**own, RAY_NODE_TYPE: "worker"} for _ in some),
            f"{path}.groupName",
            body.get("groupName"),
        )
