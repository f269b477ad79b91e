"""What there is of a name that is no gang: pods of another scheduler, or ended; a bare Job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourleaf.model.readers import InputReading

Said = tuple[str, str]
"""What is wrong, and what helps."""

ENDED = ("Succeeded", "Failed")


def not_a_gang(reading: InputReading, namespace: str, name: str) -> Said | None:
    """What `reading` has of `name` in `namespace` ("" for any), None where it has nothing."""
    pods = [
        body
        for (space, pod), body in reading.pods.items()
        if namespace in ("", space) and name in (pod, *_owners(body))
    ]
    if pods:
        return _of_pods(pods, reading.snapshot.config.spec.scheduler_names)
    for (space, job), body in reading.jobs.items():
        if job == name and namespace in ("", space):
            return _of_job(space, job, body)
    return None


def _owners(pod: dict[str, Any]) -> list[str]:
    references = pod["metadata"].get("ownerReferences") or ()
    return [str(one.get("name", "")) for one in references]


def _of_pods(pods: Sequence[dict[str, Any]], ours: Sequence[str]) -> Said | None:
    strange = [
        scheduler
        for pod in pods
        if (scheduler := (pod.get("spec") or {}).get("schedulerName") or "default-scheduler")
        not in ours
    ]
    if strange:
        message = f"is no gang: {_count(strange)} of its pods name the scheduler {strange[0]}"
        return message, f"{_meant(strange[0], ours)} in its pod template, and create the pods anew."
    phases = [(pod.get("status") or {}).get("phase", "") for pod in pods]
    if all(phase in ENDED for phase in phases):
        ended = " and ".join(f"{phases.count(one)} {one}" for one in ENDED if one in phases)
        return f"is no gang that runs or waits: its pods have ended, {ended}", _LOGS
    return None


_LOGS = "`kubectl logs` and `kubectl describe` of its pods say how."


def _count(names: Sequence[str]) -> str:
    return "one" if len(names) == 1 else str(len(names))


def _meant(scheduler: str, ours: Sequence[str]) -> str:
    """Which of our names to set; it may be that one was misspelt."""
    from fourleaf.model.readers.pods.scheduler_names import meant_scheduler

    meant = meant_scheduler(scheduler, tuple(ours))
    if meant:
        return f"Perhaps {meant} is meant: set schedulerName"
    return f"Set schedulerName: {ours[0]}"


def _of_job(namespace: str, name: str, body: dict[str, Any]) -> Said:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    if spec.get("suspend"):
        message = f"is no gang: Job {namespace}/{name} is suspended, so it has no pods"
        return message, "It gets them once its spec.suspend is false; Kueue does that by itself."
    if status.get("completionTime"):
        return f"is no gang that runs or waits: Job {namespace}/{name} is complete", _LOGS
    message = f"is no gang: Job {namespace}/{name} has no pods yet"
    return message, f"See what its controller says: kubectl -n {namespace} describe job {name}."
