"""A snapshot of a cluster as a trace: what runs is there, and what waits arrives at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.simulator.trace import FOREVER, Job, ResidentJob, Trace


def trace_of(snapshot: Snapshot, duration: int) -> Trace:
    """The gangs of `snapshot`; those that do not say how long they run take `duration` seconds.

    Running pods without a known end stay for ever. Gangs on hold, and those of which some members
    run and others wait, are left out; `source` counts them. As all arrive at once, figures are
    taken until all could be done at the earliest.
    """
    waiting = [gang for gang in snapshot.gangs if gang.hold is None and not _partly(gang)]
    jobs = tuple(_job(gang, snapshot.now, duration) for gang in waiting)
    left_out = len(snapshot.gangs) - len(waiting)
    groups: dict[GangKey, list[RunningPod]] = defaultdict(list)
    for pod in snapshot.running:
        groups[pod.gang or GangKey(pod.namespace, f"pod/{pod.name}")].append(pod)
    partly = {gang.key for gang in snapshot.gangs if _partly(gang)}
    residents = tuple(
        _resident(_alone(key, partly), pods, snapshot.now) for key, pods in sorted(groups.items())
    )
    said = f"a snapshot; {left_out} waiting gangs left out" if left_out else "a snapshot"
    gpus = sum(node.allocatable.gpus for node in snapshot.fabric.nodes.values())
    return Trace("snapshot", said, jobs, residents, _horizon(jobs, residents, gpus))


def _horizon(jobs: Sequence[Job], residents: Sequence[ResidentJob], gpus: int) -> int:
    """The least seconds in which all could be done: the longest, or all work on all GPUs."""
    all_jobs = [*jobs, *(one.job for one in residents)]
    longest = max((job.duration for job in all_jobs), default=0)
    work = sum(job.size * job.duration for job in all_jobs)
    return max(longest, -(-work // gpus) if gpus else 0)


def _partly(gang: Gang) -> bool:
    return any(role.bound for role in gang.roles)


def _alone(key: GangKey, waiting: set[GangKey]) -> GangKey:
    """A name of its own for what runs of a gang that waits with other members."""
    return GangKey(key.namespace, f"{key.name} (running)") if key in waiting else key


def _job(gang: Gang, now: float, duration: int) -> Job:
    seconds = duration if gang.duration is None else max(1, round(gang.duration))
    return Job(
        str(gang.key),
        0,
        seconds,
        sum(role.size for role in gang.roles),
        0,
        gang=replace(gang, created=gang.created - now),
    )


def _resident(key: GangKey, pods: Sequence[RunningPod], now: float) -> ResidentJob:
    """The pods of one gang as they run; the last end counts for all."""
    ends = [pod.ends for pod in pods]
    known = [end for end in ends if end is not None]
    left = FOREVER if len(known) < len(ends) else max(1, round(max(known) - now))
    roles: dict[Resources, list[str]] = defaultdict(list)
    for pod in pods:
        roles[pod.request].append(pod.name)
    gang = Gang(
        key,
        tuple(Role(tuple(names), request) for request, names in roles.items()),
        priority=max(pod.priority for pod in pods),
        created=0.0,
        bandwidth=pods[0].bandwidth,
    )
    at = {pod.name: pod.node for pod in pods}
    seats = tuple((name, at[name]) for role in gang.roles for name in role.pods)
    return ResidentJob(Job(str(key), 0, left, len(pods), 0, gang=gang), seats)
