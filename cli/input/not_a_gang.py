"""What there is of a name that is no gang: pods of another scheduler, or ended; an idle owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fourleaf.model.readers import InputReading
    from fourleaf.model.readers.objects.manifest import Body

    Heard = Callable[[str, str], str]
    """Says of an object, by namespace and UID, why its controller made no pods; "" if unknown."""

Said = tuple[str, str]
"""What is wrong, and what helps."""

ENDED = ("Succeeded", "Failed")


def nothing_heard(_namespace: str, _uid: str) -> str:
    """There is no cluster to ask."""
    return ""


def not_a_gang(
    reading: InputReading,
    namespace: str,
    name: str,
    kind: str = "",
    heard: Heard = nothing_heard,
    idle: Sequence[Body] = (),
) -> Said | None:
    """What `reading` has of `name` in `namespace` ("" for any), None where it has nothing.

    `kind` in small letters, "" for any. Objects that are `idle` have no pods,
    and are not read.
    """
    pods = [
        body
        for (space, pod), body in reading.pods.items()
        if namespace in ("", space) and _is_of(pod, body, kind, name)
    ]
    said = _of_pods(pods, reading.snapshot.config.spec.scheduler_names) if pods else None
    if said is not None and not said[0].startswith(_ENDED):
        return said
    # Of pods that have ended, their Job knows whether others come.
    jobs = dict(reading.jobs) | {_key(body): body for body in idle if body["kind"] == "Job"}
    for (space, job), body in jobs.items():
        if job == name and namespace in ("", space) and kind in ("", "job"):
            return _of_job(space, job, body, heard)
    if said is not None:
        return said
    for body in idle:
        space, owner = _key(body)
        its = (namespace in ("", space), kind in ("", body["kind"].lower()), owner == name)
        if all(its):
            return _of_owner(space, owner, body, heard)
    return None


def _key(body: Body) -> tuple[str, str]:
    return body["metadata"].get("namespace", ""), body["metadata"]["name"]


def _is_of(pod: str, body: dict[str, Any], kind: str, name: str) -> bool:
    """Whether a pod is the object that is meant, or is owned by it."""
    if kind in ("", "pod") and pod == name:
        return True
    references = body["metadata"].get("ownerReferences") or ()
    return any(
        one.get("name") == name and kind in ("", str(one.get("kind", "")).lower())
        for one in references
    )


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
        return f"{_ENDED}, {ended}", _LOGS
    return None


_ENDED = "is no gang that runs or waits: its pods have ended"
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


def _of_job(namespace: str, name: str, body: dict[str, Any], heard: Heard) -> Said:
    spec, status = body.get("spec") or {}, body.get("status") or {}
    failed = next((one for one in status.get("conditions") or () if _is_failed(one)), None)
    if failed is not None:
        said = ": ".join(str(failed[key]) for key in ("reason", "message") if failed.get(key))
        message = f"is no gang that runs or waits: Job {namespace}/{name} has failed"
        return f"{message}: {said}" if said else message, f"Create it anew. {_LOGS}"
    if spec.get("suspend"):
        message = f"is no gang: Job {namespace}/{name} is suspended, so it has no pods"
        return message, "It gets them once its spec.suspend is false; Kueue does that by itself."
    if status.get("completionTime"):
        return f"is no gang that runs or waits: Job {namespace}/{name} is complete", _LOGS
    described = f"See what its controller says: kubectl -n {namespace} describe job {name}."
    why = heard(namespace, str((body.get("metadata") or {}).get("uid") or ""))
    if why:
        message = f"is no gang: Job {namespace}/{name} could not make its pods: {why}"
        return message, _QUOTA if "exceeded quota" in why else described
    if status.get("failed") and not status.get("active"):
        message = (
            f"is no gang now: {status['failed']} pods of Job {namespace}/{name} have failed, and "
            "it waits for a while before it makes others, longer each time"
        )
        return message, f"{_LOGS} {described}"
    return f"is no gang: Job {namespace}/{name} has no pods yet", described


def _of_owner(namespace: str, name: str, body: Body, heard: Heard) -> Said:
    """What is said of an object of another kind, such as a JobSet that has no Jobs yet."""
    called = f"{body['kind']} {namespace}/{name}"
    described = f"kubectl -n {namespace} describe {body['kind'].lower()} {name}"
    if (body.get("spec") or {}).get("suspend"):
        message = f"is no gang: {called} is suspended, so it has no pods"
        return message, "It gets them once its spec.suspend is false; Kueue does that by itself."
    why = heard(namespace, str((body.get("metadata") or {}).get("uid") or ""))
    message = f"is no gang: {called} has no pods yet{f': {why}' if why else ''}"
    return message, f"See what its controller says: {described}."


_QUOTA = "Raise the ResourceQuota, ask for less, or wait until others of the namespace end."


def _is_failed(condition: dict[str, Any]) -> bool:
    return (
        condition.get("type") in ("Failed", "FailureTarget") and condition.get("status") == "True"
    )
