"""How many members a gang needs before it may start, by dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fourleaf.model.gang import Hold
from fourleaf.model.readers.gangs.dialects import (
    KUEUE_TOTAL,
    LWS_SIZE,
    REPLICATED_JOB,
    Dialect,
    is_staged,
    leads_first,
)
from fourleaf.model.readers.gangs.pod_sets import (
    members_of,
    number_at,
    pod_sets_of,
    unsupported_field,
)
from fourleaf.model.readers.objects.annotations import (
    GANG_SIZE,
    POLICY,
    PREFERRED_DOMAIN,
    field_of,
    stated,
    whole_number,
)
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import MAX_INT32, Body, Manifest
from fourleaf.model.readers.objects.priority_classes import Priorities
from fourleaf.model.readers.pods.pod_index import WORKER_INDEX
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.reasons.kinds import ReasonKind

POD_GROUPS = {
    Dialect.NATIVE: "scheduling.k8s.io",
    Dialect.COSCHEDULING: "scheduling.x-k8s.io",
    Dialect.VOLCANO: "scheduling.volcano.sh",
}
"""Dialects that keep the size in a PodGroup, and the API group of that."""

_BY_ANNOTATION = f"Say by {POLICY} and {PREFERRED_DOMAIN} what the members wish."


@dataclass(frozen=True, slots=True)
class Need:
    """What a gang needs.

    `minimum` members must be there, None where not stated: then all that are. With
    `exact`, more are refused. `basic` marks a group whose pods start one by one.
    `holder` is the object that says so, `whole` how many that makes before any has ended,
    where that is another number. `counts_ended`: members that have succeeded count as there.
    `entries` are label, value and number of members that must have it, each by itself.
    """

    minimum: int | None = None
    exact: bool = False
    basic: bool = False
    priority: int | None = None
    hold: Hold | None = None
    holder: Manifest | None = None
    whole: int | None = None
    counts_ended: bool = True
    entries: tuple[tuple[str, str, int], ...] = ()

    @property
    def most_priority(self) -> int:
        """What the gang's priority may be at most."""
        return MAX_INT32 if self.priority is None else self.priority

    @property
    def sizes(self) -> frozenset[int]:
        """The sizes that may be said of the gang, none where they are unknown."""
        return frozenset(one for one in (self.minimum, self.whole) if one is not None)


NO_NEED = Need()


def spec_of(manifest: Manifest) -> Body:
    """The spec of an object, empty where it has none."""
    return manifest.mapping(manifest.body.get("spec"), "spec")


def job_parallelism(manifest: Manifest, spec: Body, path: str = "spec") -> int:
    """How many pods of a Job run at once: parallelism, at most what is left to complete."""
    parallelism = manifest.whole(spec.get("parallelism"), f"{path}.parallelism", 1)
    if spec.get("completions") is None:
        return parallelism
    completions = manifest.whole(spec["completions"], f"{path}.completions", 1)
    return min(parallelism, completions)


def job_succeeded(manifest: Manifest) -> int:
    """How many pods of a Job have succeeded, by its status."""
    status = manifest.mapping(manifest.body.get("status"), "status")
    return manifest.whole(status.get("succeeded"), "status.succeeded", 0)


def job_need(manifest: Manifest, ended: int) -> Need:
    """What a Job runs at once from here on, plus the `ended` pods of it that count as there.

    A Job without completions winds down from its first success. Its status may count a pod later
    than the pod says so, and counts those that are gone by now.
    """
    spec = spec_of(manifest)
    succeeded = max(ended, job_succeeded(manifest))
    parallelism = manifest.whole(spec.get("parallelism"), "spec.parallelism", 1)
    total = manifest.whole(spec.get("completions"), "spec.completions", parallelism)
    left = min(parallelism, max(0, total - succeeded))
    return Need(left + ended, holder=manifest, whole=min(parallelism, total))


class MinimumSizes:
    """Looks up the need of every gang.

    In a `whole` cluster no gang is told what objects there are in namespaces of others.
    """

    def __init__(self, objects: Objects, priorities: Priorities, whole: bool = False) -> None:
        self._objects = objects
        self._priorities = priorities
        self._whole = whole

    def of(
        self, dialect: str, namespace: str, name: str, members: Sequence[Pod], ended: int = 0
    ) -> Need:
        """The need of one gang. `members` are its live pods; `ended` others count as there."""
        match dialect:
            case Dialect.NATIVE | Dialect.COSCHEDULING | Dialect.VOLCANO:
                return self._from_group(Dialect(dialect), namespace, name, members)
            case Dialect.KUEUE:
                return self._stated(members, KUEUE_TOTAL)
            case Dialect.OURS:
                return self._stated(members, GANG_SIZE)
            case Dialect.SINGLE:
                return Need(minimum=1)
            case Dialect.MAP:
                return Need(minimum=1, basic=True)
            case _:
                return self._from_owner(dialect, members, ended)

    def _from_group(
        self, dialect: Dialect, namespace: str, name: str, members: Sequence[Pod]
    ) -> Need:
        group = self._objects.get(POD_GROUPS[dialect], "PodGroup", namespace, name)
        if group is None:
            elsewhere = not self._whole and self._objects.spaces(
                POD_GROUPS[dialect], "PodGroup", name
            )
            if elsewhere:
                members[0].manifest.error(
                    "metadata.namespace",
                    namespace,
                    f"has no PodGroup {name}, but another namespace has one",
                    "Put the pods and their PodGroup into one namespace; a gang cannot span two.",
                )
            detail = f"PodGroup {namespace}/{name} does not exist"
            unblock = (f"Create PodGroup {name} in namespace {namespace}.",)
            return Need(
                hold=Hold(ReasonKind.MEMBERS_MISSING, detail, (("present", len(members)),), unblock)
            )
        spec = spec_of(group)
        if dialect is not Dialect.NATIVE:
            return self._counted(group, spec)
        return self._native(group, spec)

    def _counted(self, group: Manifest, spec: Body) -> Need:
        """A PodGroup of the coscheduling plugin or of Volcano, which ask for more than members."""
        least = group.whole(spec.get("minMember"), "spec.minMember", 1, 1)
        priority = self._priorities.of(group, spec) if spec.get("priorityClassName") else None
        hold = None
        field = "spec.networkTopology"
        network = group.mapping(spec.get("networkTopology"), field)
        if network.get("mode") == "hard":
            hold = unsupported(group, field)
        elif network:
            group.warn(field, network.get("mode"), "counts for nothing", _BY_ANNOTATION)
        if spec.get("minResources"):
            advice = "Leave it out: members start together, each with what it requests."
            group.warn("spec.minResources", None, "counts for nothing", advice)
        return Need(least, priority=priority, hold=hold, holder=group)

    def _native(self, group: Manifest, spec: Body) -> Need:
        key = (
            "policy" if "policy" in spec and "schedulingPolicy" not in spec else "schedulingPolicy"
        )
        policy = group.mapping(spec.get(key), f"spec.{key}")
        priority = None
        if spec.get("priority") is not None or spec.get("priorityClassName"):
            priority = self._priorities.of(group, spec)
        hold = None
        for field in ("schedulingConstraints", "resourceClaims", "parentCompositePodGroupName"):
            if spec.get(field):
                hold = unsupported(group, f"spec.{field}")
        if "gang" in policy:
            field = f"spec.{key}.gang"
            gang = group.mapping(policy["gang"], field)
            if gang.get("minCount") is None:
                group.error(f"{field}.minCount", None, "is missing", "State minCount, from 1 up.")
            least = group.whole(gang.get("minCount"), f"{field}.minCount", 1, 1)
            return Need(least, priority=priority, hold=hold, holder=group)
        if "basic" not in policy:
            advice = "Give gang with a minCount, or basic."
            group.error(f"spec.{key}", None, "names neither gang nor basic", advice)
        return Need(basic=True, priority=priority, hold=hold, holder=group)

    def _stated(self, members: Sequence[Pod], key: str) -> Need:
        sizes: dict[int, Pod] = {}
        for pod in members:
            found = stated(pod.layers, key)
            if found is None:
                pod.manifest.error(
                    field_of(key),
                    None,
                    "is missing next to the name of the gang",
                    "State how many pods the gang has.",
                )
                continue
            size = whole_number(found[0], found[1], field_of(key))
            if size is None:
                continue
            other = next((p for s, p in sizes.items() if s != size), None)
            if other is not None:
                found[0].error(
                    field_of(key),
                    found[1],
                    f"differs from that of {other.name}",
                    "Give all members of the gang the same size.",
                )
            sizes.setdefault(size, pod)
        return Need(next(iter(sizes), None), exact=True)

    def _from_owner(self, dialect: str, members: Sequence[Pod], ended: int) -> Need:
        # A member may have lost its owner reference; what the others say counts for it too.
        first = next((pod for pod in members if pod.owners.manifests), members[0])
        chain = first.owners
        match dialect:
            case Dialect.JOB:
                job = chain.find("batch", "Job")
                return job_need(job, ended) if job else NO_NEED
            case Dialect.JOB_SET:
                job_set = chain.find("jobset.x-k8s.io", "JobSet")
                if job_set is None:
                    return NO_NEED
                only = members[0].labels.get(REPLICATED_JOB) if is_staged(job_set) else None
                return Need(job_set_size(job_set, only), holder=job_set)
            case Dialect.RAY:
                ray = chain.find("ray.io", "RayCluster")
                return Need(ray_size(ray), holder=ray) if ray else NO_NEED
            case Dialect.LEADER_WORKER_SET:
                return self._lws(members, chain.find("leaderworkerset.x-k8s.io", "LeaderWorkerSet"))
            case _:
                return self._described(first)

    def _described(self, pod: Pod) -> Need:
        """What the table of owner kinds says of the pod's owner."""
        if pod.owners.described is None:
            return NO_NEED
        ref, said = pod.owners.described
        owner = pod.owners.find(ref.group, ref.kind)
        if owner is None:
            return NO_NEED
        field = unsupported_field(owner, said)
        hold = unsupported(owner, field) if field else None
        role = pod.labels.get(said.role_label, "") if said.role_label else ""
        total = members_of(owner, said, role)
        stated_one = None if said.role_label else number_at(owner, said.least_members)
        return Need(
            stated_one or total or None,
            hold=hold,
            holder=owner,
            whole=total or None,
            counts_ended=said.counts_ended,
            entries=tuple(
                (said.entry_label, one.key, one.replicas) for one in pod_sets_of(owner, said)
            )
            if said.entry_label
            else (),
        )

    def _lws(self, members: Sequence[Pod], lws: Manifest | None) -> Need:
        if lws is not None:
            return Need(lws_size(lws, members[0].labels), holder=lws)
        for pod in members:
            value = pod.annotations.get(LWS_SIZE)
            if value is not None:
                return Need(whole_number(pod.manifest, value, field_of(LWS_SIZE)))
        return NO_NEED


def unsupported(manifest: Manifest, field: str) -> Hold:
    """A hold that names the field that cannot be honoured."""
    field = f"{manifest.prefix}{field}"
    what = f"{manifest.title}: {field} cannot be honoured"
    return Hold(ReasonKind.UNSUPPORTED, what, (), (f"Remove {field}.",))


def job_set_size(manifest: Manifest, only: str | None = None) -> int:
    """All pods of a JobSet, or of one replicated job: replicas times parallelism."""
    total = 0
    listed = spec_of(manifest).get("replicatedJobs")
    for path, body in manifest.mappings(listed, "spec.replicatedJobs"):
        if only is not None and body.get("name") != only:
            continue
        replicas = manifest.whole(body.get("replicas"), f"{path}.replicas", 1)
        template = manifest.mapping(body.get("template"), f"{path}.template")
        job = manifest.mapping(template.get("spec"), f"{path}.template.spec")
        total += replicas * job_parallelism(manifest, job, f"{path}.template.spec")
    return total


def lws_size(manifest: Manifest, labels: Mapping[str, str]) -> int:
    """Pods of one group of a LeaderWorkerSet, its leader included where it starts with the others.

    `labels` are those of a pod of the gang.
    """
    template = manifest.mapping(
        spec_of(manifest).get("leaderWorkerTemplate"), "spec.leaderWorkerTemplate"
    )
    size = manifest.whole(template.get("size"), "spec.leaderWorkerTemplate.size", 1, 1)
    if not leads_first(manifest):
        return size
    return 1 if labels.get(WORKER_INDEX) == "0" else size - 1


def ray_workers(manifest: Manifest, path: str, body: Body) -> int:
    """Pods of one worker group of a RayCluster that must be there from the start.

    An autoscaling cluster starts with its minReplicas, any other with its replicas.
    """
    if body.get("suspend") is True:
        return 0
    least = manifest.whole(body.get("minReplicas"), f"{path}.minReplicas", 0)
    replicas = manifest.whole(body.get("replicas"), f"{path}.replicas", least)
    hosts = manifest.whole(body.get("numOfHosts"), f"{path}.numOfHosts", 1, 1)
    scales = spec_of(manifest).get("enableInTreeAutoscaling") is True
    return (min(least, replicas) if scales else replicas) * hosts


def ray_size(manifest: Manifest) -> int:
    """Pods of a RayCluster: the head and its workers."""
    listed = spec_of(manifest).get("workerGroupSpecs")
    groups = manifest.mappings(listed, "spec.workerGroupSpecs")
    return 1 + sum(ray_workers(manifest, path, body) for path, body in groups)
