"""How long pods may be expected to run, and when those that run end."""

from __future__ import annotations

from fourleaf.model.quantity import BadQuantity, seconds
from fourleaf.model.readers.gangs.minimum_size import spec_of
from fourleaf.model.readers.objects.annotations import DURATION, stated
from fourleaf.model.readers.objects.timestamps import started_at
from fourleaf.model.readers.pods.pods import Pod

_DEADLINE = "activeDeadlineSeconds"


def duration_of(pod: Pod) -> float | None:
    """How long a pod of ours may be expected to run, in seconds: as stated, else its deadline."""
    stated_one = pod.wishes.duration
    return deadline_of(pod) if stated_one is None else stated_one


def deadline_of(pod: Pod) -> float | None:
    """The deadline of the pod in seconds, which may also stand in the Job that it belongs to."""
    job = pod.owners.find("batch", "Job")
    deadlines = [(pod.manifest, pod.spec)] + ([(job, spec_of(job))] if job else [])
    for manifest, spec in deadlines:
        value = manifest.whole(spec.get(_DEADLINE), f"spec.{_DEADLINE}", 0)
        if value:
            return float(value)
    return None


def ends_of(pod: Pod, ours: bool) -> float | None:
    """When a running pod is expected to end, in seconds since the epoch, None where not stated.

    Counts from when the kubelet took it, else from when it was created. Nothing is expected
    of a pod that is bound and that no kubelet has taken yet. What strangers have written into
    our annotation and makes no sense counts for nothing.
    """
    duration = duration_of(pod) if ours else _of_stranger(pod)
    if duration is None:
        return None
    started = started_at(pod.manifest)
    if started is None and pod.phase != "Pending":
        started = pod.created
    return None if started is None else started + duration


def _of_stranger(pod: Pod) -> float | None:
    found = stated(pod.layers, DURATION)
    if found is not None:
        try:
            return seconds(found[1])
        except BadQuantity:
            pass
    return deadline_of(pod)
