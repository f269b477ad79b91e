"""The Job controller in memory: every index has a pod, another one as soon as its pod goes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from fourleaf.k8s_bridge.cluster.kinds import JOBS, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import OURS, container
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body

DEFAULT_LIMIT = 6
"""Failures that the API lets a Job have that states no limit."""
INDEX = "batch.kubernetes.io/job-completion-index"


def job(name: str, size: int, gpus: int = 8, **annotations: str) -> Body:
    """An Indexed Job of `size` pods at once, each with `gpus` GPUs, for our scheduler.

    It outlasts what is evicted, as the guides have it.
    """
    template = {
        "metadata": {"annotations": annotations},
        "spec": {
            "schedulerName": OURS,
            "containers": [container(gpus)],
            "terminationGracePeriodSeconds": 30,
        },
    }
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {
            "parallelism": size,
            "completions": size,
            "completionMode": "Indexed",
            "backoffLimitPerIndex": 100,
            "template": template,
        },
    }


class JobController:
    """Keeps one pod for every index of every Job; a pod that is to end does not count.

    It waits for `backoff` seconds before it makes another in place of one that is gone, from when
    that one was not ready where its conditions say so, and makes none for a Job that is suspended
    or has failed: what is gone or to end has, and more of that than a `backoffLimit` ends it.
    """

    def __init__(self, store: MemoryStore) -> None:
        self.backoff = 0.0
        self._store = store
        self._seen: dict[tuple[str, int], float] = {}
        """UID of a Job, and index -> when a pod of it was there last."""
        self._made: dict[str, set[str]] = {}
        """UID of a Job -> the UIDs of all pods that it has had."""

    async def run(self, seconds: float = 0.5) -> None:
        """Look for ever."""
        while True:
            self.step()
            await self._store.clock.sleep(seconds)

    def step(self) -> None:
        """Make the pods that are missing."""
        now, wall = self._store.clock.monotonic(), self._store.clock.wall()
        for record in list(self._store.records(JOBS)):
            spec = record.body["spec"]
            if spec.get("suspend") or (record.body.get("status") or {}).get("conditions"):
                continue
            uid, pods = record.metadata["uid"], list(self._pods(record))
            if self._fails(record, pods):
                continue
            present = {_index(pod) for pod in pods if not _is_over(pod)}
            self._seen |= dict.fromkeys(((uid, index) for index in present), now)
            for pod in pods:
                since = _unready_since(pod)
                if _is_over(pod) and since is not None:
                    self._seen[uid, _index(pod)] = now - (wall - since)
            for index in range(spec["completions"]):
                seen = self._seen.get((uid, index))
                if index not in present and (seen is None or now - seen >= self.backoff):
                    self._make(record, index)

    def _pods(self, owner: StoredObject) -> Iterator[StoredObject]:
        for pod in self._store.records(PODS, owner.namespace):
            owners = pod.metadata.get("ownerReferences") or ()
            if any(one["uid"] == owner.metadata["uid"] for one in owners):
                yield pod

    def _fails(self, owner: StoredObject, pods: list[StoredObject]) -> bool:
        """Count what has failed; whether that ends the Job, with all of its pods."""
        spec, whole = owner.body["spec"], owner.whole()
        limit = spec.get("backoffLimit", None if "backoffLimitPerIndex" in spec else DEFAULT_LIMIT)
        if limit is None:
            return False
        made = self._made.setdefault(owner.metadata["uid"], set())
        made |= {pod.metadata["uid"] for pod in pods}
        failed = len(made - {pod.metadata["uid"] for pod in pods if not _is_over(pod)})
        status = dict(whole.get("status") or {})
        if failed != status.get("failed", 0):
            status["failed"] = failed
            if failed > limit:
                why = "BackoffLimitExceeded"
                status["conditions"] = [{"type": "Failed", "status": "True", "reason": why}]
            self._store.update(JOBS, owner, whole | {"status": status}, "status")
        for pod in pods if failed > limit else ():
            if not _is_over(pod):
                self._store.remove(pod, 30)
        return failed > limit

    def _make(self, owner: StoredObject, index: int) -> None:
        name, template = owner.metadata["name"], owner.body["spec"]["template"]
        body = {
            "metadata": {
                "generateName": f"{name}-{index}-",
                "labels": {
                    **template["metadata"].get("labels", {}),
                    INDEX: str(index),
                    "batch.kubernetes.io/job-name": name,
                },
                "annotations": dict(template["metadata"]["annotations"]),
                "ownerReferences": [
                    {
                        "apiVersion": "batch/v1",
                        "kind": "Job",
                        "name": name,
                        "uid": owner.metadata["uid"],
                        "controller": True,
                    }
                ],
            },
            "spec": template["spec"],
        }
        self._store.create(PODS, owner.namespace, body)


def _index(pod: StoredObject) -> int:
    return int(pod.metadata["labels"][INDEX])


def _is_over(pod: StoredObject) -> bool:
    return "deletionTimestamp" in pod.metadata or pod.body["status"].get("phase") == "Failed"


def _unready_since(pod: StoredObject) -> float | None:
    """Since when it is not ready, in seconds since the epoch; None where nothing says so."""
    for one in pod.body["status"].get("conditions") or ():
        if one.get("type") == "Ready" and one.get("status") == "False":
            since = one.get("lastTransitionTime")
            return datetime.fromisoformat(since).timestamp() if since else None
    return None
