"""A trace: jobs with arrival, duration and size, and what can be done to it before a replay."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fourleaf.model.gang import Gang

WHOLE = 1000
"""The share of a GPU that a pod asks for, in thousandths, where it asks for whole ones."""
DAY = 86_400
STEPS = 40
"""Halvings of the search for a scale: from a factor of 1e12 down to one of 1 + 1e-10."""


FOREVER = 0
"""The duration of what does not end."""


class Sizes(StrEnum):
    """What becomes of the sizes of jobs: as asked, up to whole nodes, or a node for each GPU."""

    ASKED = "asked"
    WHOLE_NODES = "whole-nodes"
    NODE_PER_GPU = "node-per-gpu"


@dataclass(frozen=True, slots=True)
class Job:
    """One gang of a trace. Times in whole seconds; `arrival` counts from the trace's start.

    `pods` pods ask for `gpus` GPUs each, `cpu` millicores and `memory` bytes. `share` is the
    part of its one GPU that a pod asked for, in thousandths; it holds the whole GPU here. Where
    `gang` is given, it says what is asked for, and the other amounts are sums; it was created so
    many seconds after the arrival as it says.
    """

    name: str
    arrival: int
    duration: int
    pods: int
    gpus: int
    cpu: int = 0
    memory: int = 0
    share: int = WHOLE
    gang: Gang | None = None

    @property
    def size(self) -> int:
        """GPUs of all pods."""
        return self.pods * self.gpus if self.gang is None else self.gang.gpus


@dataclass(frozen=True, slots=True)
class ResidentJob:
    """A job that runs when the replay begins: `seats` are (pod, node) in rank order.

    Its duration is what is left of it; `FOREVER` where that is unknown.
    """

    job: Job
    seats: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs by arrival, and those that run before the first arrives.

    `source` says in a line whose data it is and what was done to it. Where all jobs arrive at
    once, `horizon` is for how many seconds figures are taken.
    """

    name: str
    source: str
    jobs: tuple[Job, ...]
    residents: tuple[ResidentJob, ...] = ()
    horizon: int = 0

    @property
    def span(self) -> int:
        """Seconds that are measured: to the last arrival or `horizon`, at least 1."""
        return max(self.horizon, max((job.arrival for job in self.jobs), default=0)) or 1

    def offered(self) -> int:
        """GPU-seconds until the last arrival if every job started when it arrives.

        Long jobs end later: all of their work would count for a load that is never there.
        """
        span = self.span
        return sum(job.size * min(job.duration, span - job.arrival) for job in self.jobs)

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

    def busiest(
        self, seconds: int, step: int = DAY, worth: Callable[[Job], int] = lambda _: 1
    ) -> Trace:
        """The window of `seconds`, by steps of `step`, in which most jobs arrive; the first such.

        Each job counts for `worth`: one, unless told otherwise.
        """
        counts = [0] * (self.span // step + 1)
        for job in self.jobs:
            counts[job.arrival // step] += worth(job)
        width = max(1, seconds // step)
        starts = range(max(1, len(counts) - width + 1))
        best = max(starts, key=lambda start: (sum(counts[start : start + width]), -start))
        return self.window(best * step, seconds)

    def sized(self, sizes: Sizes, gpus: int) -> Trace:
        """The same jobs with other sizes, each pod on a node of its own of `gpus` GPUs.

        That are ceil(GPUs / `gpus`) pods, or one for each GPU. Jobs without GPUs are left out.
        """
        match sizes:
            case Sizes.ASKED:
                return self
            case Sizes.WHOLE_NODES:
                said, per_pod = "every job on whole nodes", gpus
            case Sizes.NODE_PER_GPU:
                said, per_pod = "a node for every GPU", 1
        jobs = tuple(
            replace(job, pods=-(-job.size // per_pod), gpus=gpus, share=WHOLE, gang=None)
            for job in self.jobs
            if job.size
        )
        return replace(self, source=f"{self.source}; {said}", jobs=jobs)

    def at_load(self, load: float, gpus: int) -> Trace:
        """The same jobs and durations, arrivals drawn together or apart until `load` is offered.

        The scale of the arrivals is found by halving. Raises `ValueError` where none does.
        """
        low, high = 1e-6, 1e6
        if not self.compressed(low).load(gpus) >= load >= self.compressed(high).load(gpus):
            raise ValueError(f"no spacing of the arrivals offers a load of {load:g}")
        for _ in range(STEPS):
            middle = (low * high) ** 0.5
            if self.compressed(middle).load(gpus) > load:
                low = middle
            else:
                high = middle
        scaled = self.compressed(high)
        return replace(scaled, source=f"{self.source}; arrivals scaled by {high:.4f}")

    def shuffled(self, seed: int) -> Trace:
        """The same jobs and the same arrivals, dealt to each other anew; 0 leaves them as recorded.

        One trace is one story; dealt anew it tells whether another would end the same.
        """
        if not seed:
            return self
        jobs = list(self.jobs)
        random.Random(f"trace {seed}").shuffle(jobs)  # noqa: S311 - a replay, not a secret
        dealt = zip(jobs, self.jobs, strict=True)
        return replace(
            self,
            source=f"{self.source}; arrivals dealt anew ({seed})",
            jobs=by_arrival([replace(job, arrival=one.arrival) for job, one in dealt]),
        )

    def compressed(self, scale: float) -> Trace:
        """The same with every arrival times `scale`."""
        jobs = tuple(replace(job, arrival=round(job.arrival * scale)) for job in self.jobs)
        return replace(self, jobs=jobs)


def by_arrival(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """The jobs in the order of arrival (ties: by name), the first arriving at 0."""
    first = min((job.arrival for job in jobs), default=0)
    moved = [replace(job, arrival=job.arrival - first) for job in jobs]
    return tuple(sorted(moved, key=lambda job: (job.arrival, job.name)))
