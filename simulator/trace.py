"""A trace: jobs with arrival, duration and size, and what can be done to it before a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WHOLE = 1000
"""The share of a GPU that a pod asks for, in thousandths, where it asks for whole ones."""
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Job:
    """One gang of a trace. Times in whole seconds; `arrival` counts from the trace's start.

    `pods` pods ask for `gpus` GPUs each, `cpu` millicores and `memory` bytes. `share` is the
    part of its one GPU that a pod asked for, in thousandths; it holds the whole GPU here.
    """

    name: str
    arrival: int
    duration: int
    pods: int
    gpus: int
    cpu: int = 0
    memory: int = 0
    share: int = WHOLE

    @property
    def size(self) -> int:
        """GPUs of all pods."""
        return self.pods * self.gpus


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs by arrival. `source` says in a line whose data it is and what was done to it."""

    name: str
    source: str
    jobs: tuple[Job, ...]

    @property
    def span(self) -> int:
        """Seconds from the start to the last arrival, at least 1."""
        return max((job.arrival for job in self.jobs), default=0) or 1

    def offered(self) -> int:
        """GPU-seconds of all jobs."""
        return sum(job.size * job.duration for job in self.jobs)

    def load(self, gpus: int) -> float:
        """What is offered, as a share of what `gpus` GPUs give until the last arrival."""
        return self.offered() / (self.span * gpus)

    def window(self, start: int, seconds: int) -> Trace:
        """The jobs that arrive within `seconds` of `start`, counted from `start`."""
        jobs = tuple(
            replace(job, arrival=job.arrival - start)
            for job in self.jobs
            if start <= job.arrival < start + seconds
        )
        return replace(self, jobs=jobs)

    def busiest(self, seconds: int, step: int = DAY) -> Trace:
        """The window of `seconds`, by steps of `step`, in which most jobs arrive; the first such.

        The jobs are counted in one pass over the steps.
        """
        counts = [0] * (self.span // step + 1)
        for job in self.jobs:
            counts[job.arrival // step] += 1
        width = max(1, seconds // step)
        starts = range(max(1, len(counts) - width + 1))
        best = max(starts, key=lambda start: (sum(counts[start : start + width]), -start))
        return self.window(best * step, seconds)

    def whole_nodes(self, gpus: int) -> Trace:
        """The same jobs on nodes of their own: ceil(GPUs / `gpus`) pods of `gpus` GPUs each.

        Jobs without GPUs are left out.
        """
        jobs = tuple(
            replace(job, pods=-(-job.size // gpus), gpus=gpus, share=WHOLE)
            for job in self.jobs
            if job.size
        )
        return replace(self, source=f"{self.source}; every job on whole nodes", jobs=jobs)

    def at_load(self, load: float, gpus: int) -> Trace:
        """The same jobs and durations, arrivals drawn together or apart until `load` is offered.

        Raises `ValueError` where nothing is offered at all.
        """
        if not load > 0 or not self.offered():
            raise ValueError(f"no spacing of the arrivals offers a load of {load:g}")
        scale = self.load(gpus) / load
        scaled = self.compressed(scale)
        return replace(scaled, source=f"{self.source}; arrivals scaled by {scale:.4f}")

    def compressed(self, scale: float) -> Trace:
        """The same with every arrival times `scale`."""
        jobs = tuple(replace(job, arrival=round(job.arrival * scale)) for job in self.jobs)
        return replace(self, jobs=jobs)


def by_arrival(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """The jobs in the order of arrival (ties: by name), the first arriving at 0."""
    first = min((job.arrival for job in jobs), default=0)
    moved = [replace(job, arrival=job.arrival - first) for job in jobs]
    return tuple(sorted(moved, key=lambda job: (job.arrival, job.name)))
