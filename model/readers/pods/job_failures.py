"""Jobs as limits: how many more of its pods a Job may lose before its controller ends it.

Each evicted pod counts as failed, up to `backoffLimit`, or up to `backoffLimitPerIndex` by the
index of the pod, unless `podFailurePolicy` says what the end of an evicted pod means.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fourleaf.model.readers.objects.manifest import entries_of, part_of
from fourleaf.model.readers.pods.pod_index import whole_number
from fourleaf.model.running_gang import EvictionLimit, PodName

Body = Mapping[str, Any]

DEFAULT_BACKOFF_LIMIT = 6
"""What the API server writes into a Job that states none."""
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
"""Annotation of a pod: how often its index has failed before."""
TRACKED = "batch.kubernetes.io/job-tracking"
"""Finalizer of a pod that the Job controller has not counted yet."""
ADVICE = (
    "raise spec.backoffLimit of the Job; the next one is safe with a backoffLimitPerIndex that no "
    "index reaches, or a podFailurePolicy that ignores DisruptionTarget"
)

_DISRUPTION = "DisruptionTarget"
"""The condition of a pod that is evicted."""
_EXIT_CODES = frozenset({137, 143})
"""How a container ends that is told to, where it does nothing of its own: killed, or by SIGTERM."""
_FAILS = ("FailJob", "FailIndex")
"""Actions of a rule that end the Job, or an index of it."""
_ENDS = frozenset({"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"})
"""Conditions of a Job that has ended, or is about to: nothing that is evicted ends it any more."""


@dataclass(frozen=True, slots=True)
class JobBound:
    """A field of a Job, by which it outlasts at most `most` more failures of `pods`.

    `failed` is what has failed before.
    """

    field: str
    value: str
    pods: frozenset[PodName]
    most: int
    failed: int


def may_end(job: Body, pods: int) -> bool:
    """Whether a Job of so many pods could end of evictions, before any pod is looked at."""
    spec, status = part_of(job, "spec"), part_of(job, "status")
    action = _action(spec)
    if action != "Count":
        return action != "Ignore"
    uncounted = len(_texts(part_of(status, "uncountedTerminatedPods").get("failed")))
    failed = uncounted + _number(status.get("failed"), 0)
    each = spec.get("backoffLimitPerIndex")
    by_index = isinstance(each, int) and (failed > 0 or each < 1)
    limit = spec.get("backoffLimit", None if isinstance(each, int) else DEFAULT_BACKOFF_LIMIT)
    return by_index or (isinstance(limit, int) and failed + pods > limit)


def job_bounds(job: Body, pods: Mapping[PodName, Body], failed: int) -> Iterator[JobBound]:
    """What the Job that made `pods` says of their evictions, after so many failures."""
    if _has_ended(job):
        return
    spec = part_of(job, "spec")
    action = _action(spec)
    if action == "Ignore":
        return
    if action in _FAILS:
        yield JobBound("spec.podFailurePolicy", action, frozenset(pods), 0, failed)
        return
    each = spec.get("backoffLimitPerIndex")
    if isinstance(each, int):
        spent = {pod: before for pod, body in pods.items() if (before := _before(body)) >= each}
        worst = max(spent.values(), default=0)
        yield JobBound("spec.backoffLimitPerIndex", str(each), frozenset(spent), 0, worst)
    limit = spec.get("backoffLimit", None if isinstance(each, int) else DEFAULT_BACKOFF_LIMIT)
    if isinstance(limit, int):
        left = max(0, limit - failed)
        yield JobBound("spec.backoffLimit", str(limit), frozenset(pods), left, failed)


def job_limits(
    name: tuple[str, str], job: Body, pods: Mapping[PodName, Body], failed: int
) -> Iterator[EvictionLimit]:
    """The same of the Job of that namespace and name as limits, those that can bind."""
    for one in job_bounds(job, pods, failed):
        if len(one.pods) > one.most:
            who = f"Job {name[0]}/{name[1]} with {one.field} {one.value}"
            yield EvictionLimit(who, one.pods, one.most, ADVICE)


def failed_so_far(job: Body, pods: Iterable[Body], lost: Container[str] = ()) -> int:
    """How many pods of a Job have failed, with those that its controller is still to count.

    `pods` are all that it has; those whose UIDs are `lost` will fail whatever is evicted.
    """
    status = part_of(job, "status")
    found = set(_texts(part_of(status, "uncountedTerminatedPods").get("failed")))
    for body in pods:
        metadata, phase = part_of(body, "metadata"), part_of(body, "status").get("phase")
        is_over = phase == "Failed" or metadata.get("deletionTimestamp") is not None
        uid = str(metadata.get("uid"))
        if phase != "Succeeded" and (
            TRACKED in _texts(metadata.get("finalizers")) if is_over else uid in lost
        ):
            found.add(uid)
    return len(found) + _number(status.get("failed"), 0)


def job_of(pod: Body) -> str:
    """The name of the Job that made a pod, "" where none did."""
    owners = entries_of(part_of(pod, "metadata"), "ownerReferences")
    jobs = (one for one in owners if one.get("controller") and one.get("kind") == "Job")
    return next((str(one.get("name")) for one in jobs), "")


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _has_ended(job: Body) -> bool:
    conditions = entries_of(part_of(job, "status"), "conditions")
    return any(one.get("type") in _ENDS and one.get("status") == "True" for one in conditions)


def _action(spec: Body) -> str:
    """What the Job's podFailurePolicy says of a pod that is evicted, the worst that it may say.

    The first rule that matches decides. One on exit codes may match or not, for a container may end
    as it likes once it is told to.
    """
    worst = "Ignore"
    for rule in entries_of(part_of(spec, "podFailurePolicy"), "rules"):
        action = str(rule.get("action", "Count"))
        if _is_of_evicted(rule):
            return action if action in _FAILS or worst == "Ignore" else worst
        if _may_be_of_evicted(rule):
            if action in _FAILS:
                return action
            worst = worst if action == "Ignore" else "Count"
    return "Count"


def _is_of_evicted(rule: Body) -> bool:
    """Whether a rule is about every pod that is evicted, by its condition."""
    return any(
        one.get("type") == _DISRUPTION and one.get("status", "True") == "True"
        for one in entries_of(rule, "onPodConditions")
    )


def _may_be_of_evicted(rule: Body) -> bool:
    """Whether a rule is about an exit code with which a pod that is evicted may end."""
    codes = part_of(rule, "onExitCodes")
    values = codes.get("values")
    listed = _EXIT_CODES.intersection(
        one for one in (values if isinstance(values, list) else ()) if isinstance(one, int)
    )
    if codes.get("operator") == "NotIn":
        return listed != _EXIT_CODES
    return bool(listed)


def _before(pod: Body) -> int:
    """How often the index of a pod has failed before."""
    text = part_of(pod, "metadata", "annotations").get(INDEX_FAILURES)
    return whole_number(text if isinstance(text, str) else None) or 0
