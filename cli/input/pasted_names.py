"""Names as people paste them: of a pod, or of an object that made pods, as kubectl prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fourleaf.model.gang import GangKey
    from fourleaf.model.readers import InputReading
    from fourleaf.model.readers.pods.pods import Pod

SHORT_NAMES = {
    "po": "pod",
    "sts": "statefulset",
    "deploy": "deployment",
    "rs": "replicaset",
    "lws": "leaderworkerset",
}


def kind_of(word: str) -> str:
    """The kind, in small letters, that kubectl calls `word`: job, jobs, job.batch."""
    word = word.lower().partition(".")[0]
    return SHORT_NAMES.get(word) or word.removesuffix("s")


def gangs_of(reading: InputReading, space: str, kind: str, name: str) -> list[GangKey]:
    """The gangs that have pods of an object; `space` and `kind` ("" for any) say which."""
    meant = {
        (pod.namespace, pod.name)
        for pod in _pods(reading)
        if space in ("", pod.namespace) and _is_of(pod, kind, name)
    }
    snapshot = reading.snapshot
    found = {
        gang.key
        for gang in snapshot.gangs
        for role in gang.roles
        for pod in (*role.pods, *(bound for bound, _ in role.bound))
        if (gang.key.namespace, pod) in meant
    }
    for pod in snapshot.running:
        if pod.ours and pod.gang is not None and (pod.namespace, pod.name) in meant:
            found.add(pod.gang)
    return sorted(found)


def _pods(reading: InputReading) -> Iterator[Pod]:
    for pods in reading.members.gangs.values():
        yield from pods


def _is_of(pod: Pod, kind: str, name: str) -> bool:
    if kind in ("", "pod") and pod.name == name:
        return True
    return any(owner.name == name and kind in ("", owner.kind.lower()) for owner in pod.owners.refs)
