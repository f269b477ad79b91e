"""Jobs that evictions would end: each evicted pod counts as failed, up to `backoffLimit`."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fourleaf.model.problems import Problem, Severity
from fourleaf.model.readers.pods.job_failures import (
    failed_so_far,
    job_bounds,
    job_limits,
    job_of,
)
from fourleaf.model.running_gang import EvictionLimit, PodName

Body = Mapping[str, Any]


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
    found = (
        _end(name, job, {pod: body for pod, body in pods.items() if pod in gone}, pods.values())
        for gone in (frozenset(evicted),)
        for name, job, pods in _with_pods(source, gone)
    )
    return tuple(one for one in found if one is not None)


def lasting_jobs(
    source: JobSource, pods: Iterable[PodName], ending: Container[PodName] = ()
) -> Iterator[EvictionLimit]:
    """How many of these pods may be evicted so that no Job ends.

    One that has a pod among `ending` may end.
    """
    for name, job, made in _with_pods(source, frozenset(pods)):
        if not any(pod in ending for pod in made):
            yield from job_limits(name, job, made, failed_so_far(job, made.values()))


def _with_pods(
    source: JobSource, pods: Collection[PodName]
) -> Iterator[tuple[tuple[str, str], Body, dict[PodName, Body]]]:
    """The Jobs that made one of these pods, by namespace and name, each with all of its pods."""
    bodies, jobs = source.pods, source.jobs
    asked = {(pod[0], job_of(bodies[pod])) for pod in pods if pod in bodies}
    made: dict[tuple[str, str], dict[PodName, Body]] = {one: {} for one in asked if one in jobs}
    for pod, body in bodies.items() if made else ():
        if (one := (pod[0], job_of(body))) in made:
            made[one][pod] = body
    return ((name, jobs[name], made[name]) for name in sorted(made))


def _end(
    name: tuple[str, str], job: Body, evicted: Mapping[PodName, Body], pods: Iterable[Body]
) -> EndedJob | None:
    """How the Job ends if those are evicted; None where it goes on."""
    for one in job_bounds(job, evicted, failed_so_far(job, pods)):
        if len(one.pods) > one.most:
            return EndedJob(*name, len(evicted), one.failed, one.field, one.value)
    return None


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
        "the Job would end, so the scheduler would leave them where they are",
        "Raise spec.backoffLimit of the Job above that, or let it end with --end-jobs.",
    )
