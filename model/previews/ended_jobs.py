"""Jobs that evictions would end: each evicted pod counts as failed, up to `backoffLimit`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fourleaf.model.problems import Problem, Severity
from fourleaf.model.running_gang import PodName

Body = Mapping[str, Any]
DEFAULT_BACKOFF_LIMIT = 6
"""What the API server writes into a Job that states none."""
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
"""Annotation of a pod: how often its index has failed before."""
DISRUPTION = "DisruptionTarget"
"""The condition of a pod that is evicted."""


class JobSource(Protocol):
    """A cluster at one moment, that knows pods and the Jobs that made them."""

    @property
    def pods(self) -> Mapping[PodName, Body]:
        """Namespace and name -> the pod."""

    @property
    def jobs(self) -> Mapping[tuple[str, str], Body]:
        """Namespace and name -> the Job."""


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A Job that ends: pods of it that are evicted, failures before, and the field that says so."""

    namespace: str
    name: str
    evicted: int
    failed: int
    field: str
    limit: str

    def __str__(self) -> str:
        before = f" after {self.failed:,} failures" if self.failed else ""
        return (
            f"Job {self.namespace}/{self.name}: {self.evicted:,} evicted{before}, "
            f"{self.field} {self.limit}"
        )


def ended_jobs(source: JobSource, evicted: Iterable[PodName]) -> tuple[EndedJob, ...]:
    """The Jobs that do not outlast it if these pods are evicted, by namespace and name."""
    by_job: dict[tuple[str, str], list[Body]] = {}
    for pod in sorted(set(evicted)):
        body = source.pods.get(pod)
        for owner in _metadata(body).get("ownerReferences") or ():
            if owner.get("controller") and owner.get("kind") == "Job":
                by_job.setdefault((pod[0], owner["name"]), []).append(body or {})
    jobs = source.jobs
    found = (_end(jobs[key], key, pods) for key, pods in sorted(by_job.items()) if key in jobs)
    return tuple(one for one in found if one is not None)


def _end(job: Body, key: tuple[str, str], pods: Sequence[Body]) -> EndedJob | None:
    """How the Job ends if `pods` are evicted; None where it goes on."""
    spec = job.get("spec") or {}
    failed = _number((job.get("status") or {}).get("failed"), 0)
    action = next(_actions(spec), "Count")
    if action == "FailJob":
        return EndedJob(*key, len(pods), failed, "spec.podFailurePolicy", action)
    if action == "Ignore":
        return None
    each = _number(spec.get("backoffLimitPerIndex"), -1)
    if each >= 0:
        worst = max(_index_failures(pod) for pod in pods)
        found = EndedJob(*key, len(pods), worst, "spec.backoffLimitPerIndex", str(each))
        return found if worst + 1 > each else None
    limit = _number(spec.get("backoffLimit"), DEFAULT_BACKOFF_LIMIT)
    if failed + len(pods) <= limit:
        return None
    return EndedJob(*key, len(pods), failed, "spec.backoffLimit", str(limit))


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def _actions(spec: Body) -> Iterator[str]:
    """What the rules of the Job's podFailurePolicy say of a pod that is evicted."""
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        if any(one.get("type") == DISRUPTION for one in rule.get("onPodConditions") or ()):
            yield rule.get("action", "Count")


def _index_failures(pod: Body) -> int:
    text = (_metadata(pod).get("annotations") or {}).get(INDEX_FAILURES, "0")
    return int(text) if text.isdecimal() else 0


def _metadata(body: Body | None) -> Body:
    return (body or {}).get("metadata") or {}


def end_problem(where: str, job: EndedJob, severity: Severity) -> Problem:
    """That emptying nodes ends `job`, and what to do before."""
    before = f", and {job.failed:,} have failed" if job.failed else ""
    return Problem(
        severity,
        where,
        f"Job {job.namespace}/{job.name}",
        job.field,
        job.limit,
        f"{job.evicted:,} of its pods would be evicted{before}: evicted pods count as failed, and "
        "the Job would end",
        "Raise spec.backoffLimit of the Job above that, or let it end with --end-jobs.",
    )
