"""Pods that an owner would make, for owners given without any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from model.readers.clock import created_at
from model.readers.groups import JOB_SET_NAME, LWS_GROUP, LWS_NAME, RAY_CLUSTER
from model.readers.manifest import EMPTY, Body, Manifest
from model.readers.owners import Chain, OwnerRef, Owners, owner_ref
from model.readers.pod_index import JOB_INDEX, WORKER_INDEX
from model.readers.pods import (
    DEFAULT_SCHEDULER,
    JOBSET_JOB_INDEX,
    RAY_NODE_TYPE,
    Pod,
    read_pod,
)
from model.readers.sizes import job_parallelism, job_succeeded, ray_workers, spec_of
from model.readers.wishes import PREFIX

MAX_PODS = 100_000
"""Pods that one input may expand to."""
_EXPANDED = ("Job", "JobSet", "LeaderWorkerSet", "RayCluster", "Deployment", "StatefulSet")


@dataclass(frozen=True, slots=True)
class Batch:
    """Pods from one template: their names and what distinguishes their labels."""

    template: object
    field: str
    names: tuple[str, ...]
    labels: tuple[dict[str, str], ...]


class Expansion:
    """Makes the missing pods of all owners in the input."""

    def __init__(self, owners: Owners, scheduler_names: tuple[str, ...]) -> None:
        self._owners = owners
        self._schedulers = scheduler_names
        self._left = MAX_PODS

    def pods(self, existing: Iterable[Pod]) -> list[Pod]:
        """Pods of every owner that no pod in `existing` belongs to."""
        present = set()
        for pod in existing:
            for ref in pod.owners.refs:
                present.add((pod.namespace, ref.kind, ref.name))
            for label, kind in (
                (JOB_SET_NAME, "JobSet"),
                (LWS_NAME, "LeaderWorkerSet"),
                (RAY_CLUSTER, "RayCluster"),
            ):
                if label in pod.labels:
                    present.add((pod.namespace, kind, pod.labels[label]))
        found: list[Pod] = []
        for owner in self._owners.objects():
            if self._left < 0:
                # One owner too many is refused; counting out the next ones would take as long.
                break
            if (
                owner.kind in _EXPANDED
                and (owner.namespace, owner.kind, owner.name) not in present
                and not self._made_by_another(owner)
                and not _is_done(owner)
            ):
                found.extend(self._expand(owner))
        return found

    def _made_by_another(self, owner: Manifest) -> bool:
        metadata = owner.body.get("metadata")
        ref = owner_ref(metadata) if isinstance(metadata, dict) else None
        return ref is not None and self._owners.get(owner.namespace, ref) is not None

    def _expand(self, owner: Manifest) -> Iterator[Pod]:
        chain = self._owners.chain_from(
            owner.namespace, OwnerRef(owner.group, owner.kind, owner.name)
        )
        for batch in _batches(owner):
            if len(batch.names) > self._left:
                owner.error(
                    "spec",
                    len(batch.names),
                    f"makes more pods than the {MAX_PODS} that one input may expand to",
                    "Correct the number of pods, or give the pods themselves.",
                )
                self._left = -1
                return
            self._left -= len(batch.names)
            yield from self._from_batch(owner, chain, batch)

    def _from_batch(self, owner: Manifest, chain: Chain, batch: Batch) -> Iterator[Pod]:
        if not batch.names:
            return
        template = owner.mapping(batch.template, batch.field)
        metadata = owner.mapping(template.get("metadata"), f"{batch.field}.metadata")
        own = {"labels": metadata.get("labels"), "annotations": metadata.get("annotations")}
        body = {"metadata": own, "spec": template.get("spec")}
        manifest = replace(owner, body=body, prefix=f"{batch.field}.")
        first = read_pod(manifest, batch.names[0], self._owners, chain)
        first.created = created_at(owner)
        if suspended(owner):
            first.suspended = True
        if not template.get("spec") and _names_us(chain):
            first.scheduler = self._schedulers[0]
        elif first.scheduler == DEFAULT_SCHEDULER and _names_us(chain):
            manifest.warn(
                "spec.schedulerName",
                None,
                "is not set, so another scheduler places these pods",
                f"Set schedulerName: {self._schedulers[0]} to have them planned.",
            )
        for name, labels in zip(batch.names, batch.labels, strict=True):
            merged = {**first.labels, **labels}
            yield replace(first, name=name, labels=merged)


def _names_us(chain: Chain) -> bool:
    return any(key.startswith(PREFIX) for _, layer in chain.layers for key in layer)


def _is_done(owner: Manifest) -> bool:
    metadata = owner.body.get("metadata")
    if isinstance(metadata, dict) and metadata.get("deletionTimestamp") is not None:
        return True
    status = owner.body.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    if owner.kind not in ("Job", "JobSet") or not isinstance(conditions, list):
        return False
    return any(
        isinstance(one, dict)
        and one.get("type") in ("Complete", "Completed", "Failed")
        and one.get("status") == "True"
        for one in conditions
    )


def _numbered(template: object, field: str, prefix: str, count: int, label: str = "") -> Batch:
    some = range(min(count, MAX_PODS + 1))
    return Batch(
        template,
        field,
        tuple(f"{prefix}-{i}" for i in some),
        tuple({label: str(i)} if label else EMPTY for i in some),
    )


def _batches(owner: Manifest) -> Iterator[Batch]:
    spec = spec_of(owner)
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


def _of_job_set(owner: Manifest, spec: Body) -> Iterator[Batch]:
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
                        JOBSET_JOB_INDEX: str(number + replica),
                        JOB_INDEX: str(i),
                    }
                )
            if len(names) > MAX_PODS:
                break
        number += replicas
        field = f"{path}.template.spec.template"
        yield Batch(job.get("template"), field, tuple(names), tuple(labels))


def _of_lws(owner: Manifest, spec: Body) -> Iterator[Batch]:
    field = "spec.leaderWorkerTemplate"
    both = owner.mapping(spec.get("leaderWorkerTemplate"), field)
    replicas = owner.whole(spec.get("replicas"), "spec.replicas", 1)
    size = owner.whole(both.get("size"), f"{field}.size", 1, 1)
    leader = "leaderTemplate" if both.get("leaderTemplate") else "workerTemplate"
    for group in range(min(replicas, MAX_PODS)):
        own = {LWS_NAME: owner.name, LWS_GROUP: str(group)}
        name = f"{owner.name}-{group}"
        yield Batch(both.get(leader), f"{field}.{leader}", (name,), ({**own, WORKER_INDEX: "0"},))
        workers = range(1, min(size, MAX_PODS + 2))
        yield Batch(
            both.get("workerTemplate"),
            f"{field}.workerTemplate",
            tuple(f"{name}-{i}" for i in workers),
            tuple({**own, WORKER_INDEX: str(i)} for i in workers),
        )


def _of_ray(owner: Manifest, spec: Body) -> Iterator[Batch]:
    own = {RAY_CLUSTER: owner.name}
    head = owner.mapping(spec.get("headGroupSpec"), "spec.headGroupSpec")
    yield Batch(
        head.get("template"),
        "spec.headGroupSpec.template",
        (f"{owner.name}-head",),
        ({**own, RAY_NODE_TYPE: "head"},),
    )
    for path, body in owner.mappings(spec.get("workerGroupSpecs"), "spec.workerGroupSpecs"):
        called = owner.text(body.get("groupName"), f"{path}.groupName", "workers")
        some = range(min(ray_workers(owner, path, body), MAX_PODS + 1))
        yield Batch(
            body.get("template"),
            f"{path}.template",
            tuple(f"{owner.name}-{called}-worker-{i}" for i in some),
            tuple({**own, RAY_NODE_TYPE: "worker"} for _ in some),
        )


def suspended(owner: Manifest) -> bool:
    """Whether an owner is told not to make its pods yet."""
    return spec_of(owner).get("suspend") is True
