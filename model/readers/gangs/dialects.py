"""Which gang a pod belongs to: the dialects, tried in order, the first match wins."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from fourleaf.model.readers.objects.annotations import GANG, field_of
from fourleaf.model.readers.objects.manifest import Manifest, entries_of, part_of
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.model.readers.pods.pod_index import JOB_INDEX, WORKER_INDEX
from fourleaf.model.readers.pods.pods import Pod


class Dialect(StrEnum):
    """How a pod says which gang it belongs to, in the order in which that is looked for."""

    NATIVE = "podgroup"
    COSCHEDULING = "pod-group"
    VOLCANO = "group-name"
    KUEUE = "kueue"
    JOB_SET = "jobset"
    LEADER_WORKER_SET = "lws"
    RAY = "ray"
    JOB = "job"
    OURS = "gang"
    MAP = "map"
    SINGLE = "pod"


COSCHEDULING_LABELS = ("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")
VOLCANO_GROUP = "scheduling.k8s.io/group-name"
KUEUE_GROUP = "kueue.x-k8s.io/pod-group-name"
KUEUE_TOTAL = "kueue.x-k8s.io/pod-group-total-count"
JOB_SET_NAME = "jobset.sigs.k8s.io/jobset-name"
REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"
LWS_NAME = "leaderworkerset.sigs.k8s.io/name"
LWS_GROUP = "leaderworkerset.sigs.k8s.io/group-index"
LWS_SIZE = "leaderworkerset.sigs.k8s.io/size"
RAY_CLUSTER = "ray.io/cluster"

Membership = tuple[str, str]
"""The dialect, or what an owner kind is called where the table of them decides; the name."""

MOST_NAME_CHARACTERS = 253
"""Characters of a gang's name, as of any object's."""


_NAMED_BY: dict[str, str] = {
    Dialect.NATIVE: "spec.schedulingGroup.podGroupName",
    Dialect.VOLCANO: field_of(VOLCANO_GROUP),
    Dialect.OURS: field_of(GANG),
    Dialect.COSCHEDULING: f"metadata.labels[{COSCHEDULING_LABELS[0]}]",
    Dialect.KUEUE: f"metadata.labels[{KUEUE_GROUP}]",
    Dialect.JOB_SET: f"metadata.labels[{JOB_SET_NAME}]",
    Dialect.LEADER_WORKER_SET: f"metadata.labels[{LWS_NAME}]",
    Dialect.RAY: f"metadata.labels[{RAY_CLUSTER}]",
}
"""Where the name of a gang most likely stands; elsewhere the owner has it."""


def membership(pod: Pod) -> Membership:
    """The dialect and name of the gang that `pod` belongs to.

    A pod alone where the name has blanks, or characters that no line of text can show: where gangs
    of other namespaces are not to be named, it has to be seen where a name ends.
    """
    dialect, name = _membership(pod)
    if name.isprintable() and " " not in name:
        return dialect, name
    advice = "Name the gang in letters, digits, -, _ and . alone."
    field = _NAMED_BY.get(dialect, "metadata.ownerReferences")
    pod.manifest.error(field, name, "has blanks or characters that cannot be shown", advice)
    return Dialect.SINGLE, pod.name


def _membership(pod: Pod) -> Membership:
    group = pod.spec.get("schedulingGroup")
    if group is not None:
        field = "spec.schedulingGroup"
        body = pod.manifest.mapping(group, field)
        name = pod.manifest.text(body.get("podGroupName"), f"{field}.podGroupName")
        if name:
            return Dialect.NATIVE, name
    labels = pod.labels
    for key in COSCHEDULING_LABELS:
        if labels.get(key):
            return Dialect.COSCHEDULING, labels[key]
    volcano = pod.annotation(VOLCANO_GROUP)
    if volcano:
        return _bounded(pod, VOLCANO_GROUP, Dialect.VOLCANO, volcano)
    if labels.get(KUEUE_GROUP):
        return Dialect.KUEUE, labels[KUEUE_GROUP]
    return _by_owner(pod) or _by_annotation(pod)


def _by_owner(pod: Pod) -> Membership | None:
    labels, owners = pod.labels, pod.owners
    if owners.replaced:
        # What is there under that name has pods of its own: these go with what made them.
        return Dialect.SINGLE, pod.name
    name = labels.get(JOB_SET_NAME) or owners.named("jobset.x-k8s.io", "JobSet")
    if name:
        job_set = owners.find("jobset.x-k8s.io", "JobSet")
        part = labels.get(REPLICATED_JOB)
        staged = part and job_set is not None and is_staged(job_set)
        return Dialect.JOB_SET, f"{name}-{part}" if staged else name
    name = labels.get(LWS_NAME) or owners.named("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
    if name:
        group = f"{name}-{labels.get(LWS_GROUP, '0')}"
        lws = owners.find("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
        leads = lws is not None and labels.get(WORKER_INDEX) == "0" and leads_first(lws)
        return Dialect.LEADER_WORKER_SET, f"{group}-leader" if leads else group
    name = labels.get(RAY_CLUSTER) or owners.named("ray.io", "RayCluster")
    if name:
        return Dialect.RAY, name
    if owners.described is not None:
        ref, said = owners.described
        role = said.role_label and labels.get(said.role_label)
        return said.dialect, f"{ref.name}-{role}" if role else ref.name
    name = owners.named("batch", "Job")
    return (Dialect.JOB, name) if name and _starts_together(pod) else None


def is_staged(job_set: Manifest) -> bool:
    """Whether a JobSet makes its replicated jobs one after the other, so that each is a gang."""
    spec = part_of(job_set.body, "spec")
    if part_of(spec, "startupPolicy").get("startupPolicyOrder") == "InOrder":
        return True
    return any(one.get("dependsOn") for one in entries_of(spec, "replicatedJobs"))


def leads_first(lws: Manifest) -> bool:
    """Whether the leader of a group has to be ready before there are workers."""
    return bool(part_of(lws.body, "spec").get("startupPolicy") == "LeaderReady")


def _starts_together(pod: Pod) -> bool:
    """Whether the pods of the pod's Job start together: it is Indexed, or runs several.

    Until the Job is there, all of them are one gang, which is held.
    """
    job = pod.owners.find("batch", "Job")
    if job is None and pod.owners.missing is not None:
        return True
    if job is None:
        return JOB_INDEX in pod.annotations or JOB_INDEX in pod.labels
    spec = part_of(job.body, "spec")
    parallelism = spec.get("parallelism")
    return spec.get("completionMode") == "Indexed" or (
        isinstance(parallelism, int) and parallelism > 1
    )


def _by_annotation(pod: Pod) -> Membership:
    name = pod.annotation(GANG)
    if name:
        return _bounded(pod, GANG, Dialect.OURS, name)
    lines = pod.annotation(DEVICE_MAP)
    if lines is None or pod.index is not None:
        return Dialect.SINGLE, pod.name
    return Dialect.MAP, _sharers(pod, lines)


def _bounded(pod: Pod, key: str, dialect: Dialect, name: str) -> Membership:
    """The gang that an annotation names; a pod alone where the name is too long for any object."""
    if len(name) <= MOST_NAME_CHARACTERS:
        return dialect, name
    advice = f"Give the gang a name of at most {MOST_NAME_CHARACTERS} characters."
    pod.manifest.error(field_of(key), name, f"has {len(name):,} characters", advice)
    return Dialect.SINGLE, pod.name


def _sharers(pod: Pod, lines: str) -> str:
    """The name of those that share out a device map: its pods say not which line is whose."""
    owners = pod.owners
    name = owners.named("apps", "Deployment") or owners.named("apps", "ReplicaSet")
    if name:
        return name
    if owners.refs:
        return owners.refs[-1].name
    return f"map-{hashlib.sha256(lines.encode()).hexdigest()[:10]}"
