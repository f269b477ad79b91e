"""From a job of a trace to a gang of the model."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.resources import Resources
from fourleaf.simulator.trace import Job

NAMESPACE = "trace"


def gang_of(job: Job) -> Gang:
    """The gang of a job: its own, else one role, created when it arrives; its duration known.

    What its own gang says of when it was created counts from its arrival.
    """
    if job.gang is not None:
        created = job.arrival + job.gang.created
        return replace(job.gang, created=created, duration=float(job.duration) or None)
    names = tuple(f"{job.name}-{i}" for i in range(job.pods))
    request = Resources(gpus=job.gpus, cpu=job.cpu, memory=job.memory, pods=1)
    return Gang(
        GangKey(NAMESPACE, job.name),
        (Role(names, request),),
        created=float(job.arrival),
        duration=float(job.duration),
    )
