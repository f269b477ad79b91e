"""The controllers themselves: they make owners and pods, back off, start over, and clean up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import JOB_SETS, JOBS, PODS
from fourleaf.k8s_bridge.cluster.memory import pods as binding
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.simulation.controllers.backoff import JobBackoff
from tests.simulation.controllers.owner import KINDS, Owner, reference

if TYPE_CHECKING:
    from tests.simulation.jobs import Job

_FOREGROUND = "foregroundDeletion"
"""What keeps a Job there until the last of its pods is gone."""


class OwnerControllers:
    """Serve the gangs that have an owner; `did` hears of what is worth counting."""

    def __init__(self, store: MemoryStore, namespace: str, did: Callable[[str, str], None]) -> None:
        self._store = store
        self._namespace = namespace
        self._did = did

    def begin(self, job: Job, owner: Owner) -> None:
        """Make the objects; the pods are to name them."""
        made = self._store.create(
            KINDS[owner.kind], self._namespace, owner.body(job.name, job.size)
        )
        owner.uid = made.metadata["uid"]
        self._did(f"owner {owner.kind}", job.name)
        if owner.kind == "JobSet":
            self._make_jobs(job, owner)
        else:
            self._adopt(job, owner, [made])

    def make_up(self, job: Job, owner: Owner) -> None:
        """Make the pods of Jobs that are missing, once their time has come."""
        if owner.is_starting_over:
            self._start_over(job, owner)
            return
        for index, body in enumerate(job.bodies):
            name = body["metadata"]["name"]
            record = self._pod(name)
            if record is None or _has_failed(record):
                if owner.starts_over:
                    self._end_all(job, owner)
                    return
                self._replace(job, owner, index, name)

    def remove(self, job: Job, owner: Owner) -> None:
        """Delete all that there is of it, as the collector of garbage does."""
        for record in [*self._pods(job), *self._jobs(job, owner)]:
            if record.metadata.get("finalizers") == [_FOREGROUND]:
                self._let_go(record)
            else:
                self._store.remove(record)
        with suppress(NotFound):
            target = Target(self._namespace, job.name)
            self._store.remove(self._store.find(KINDS[owner.kind], target))

    def _replace(self, job: Job, owner: Owner, index: int, failed: str) -> None:
        now = self._store.clock.monotonic()
        part, inner = owner.position(job.size, index)
        backoff = owner.backoffs[part]
        if backoff.count(inner, failed, now):
            self._did("job backs off", f"{failed} until {backoff.over(inner):.1f}")
        if now >= backoff.over(inner):
            self._store.create(PODS, self._namespace, job.another(index))

    def _end_all(self, job: Job, owner: Owner) -> None:
        """A JobSet whose Job has failed deletes all of its Jobs, and so their pods."""
        job.spoiled = owner.is_starting_over = True
        self._did("job set starts over", job.name)
        for record in list(self._jobs(job, owner)):
            body = record.whole()
            body["metadata"]["finalizers"] = [_FOREGROUND]
            self._store.remove(self._store.update(JOBS, record, body))
        for record in list(self._pods(job)):
            self._store.remove(record, binding.grace(record))

    def _start_over(self, job: Job, owner: Owner) -> None:
        """Once the last pod is gone, the Jobs go, and are made again under their names."""
        if any(True for _ in self._pods(job)):
            return
        owner.is_starting_over = False
        for record in list(self._jobs(job, owner)):
            self._let_go(record)
        for index in range(job.size):
            job.another(index)
        self._make_jobs(job, owner)
        for body in job.bodies:
            self._store.create(PODS, self._namespace, body)

    def _make_jobs(self, job: Job, owner: Owner) -> None:
        """The Jobs of a JobSet."""
        owned = [reference(JOB_SETS, job.name, owner.uid)]
        made = []
        for part in range(owner.parts):
            metadata = {"name": owner.job_name(job.name, part), "ownerReferences": owned}
            body = {"metadata": metadata, "spec": owner.job_spec(job.size)}
            made.append(self._store.create(JOBS, self._namespace, body))
        self._adopt(job, owner, made)

    def _adopt(self, job: Job, owner: Owner, made: list[StoredObject]) -> None:
        """Let the pods name what makes them, whose failures count from now on."""
        owner.backoffs = [JobBackoff(owner.per_index) for _ in made]
        for index, body in enumerate(job.bodies):
            one = made[owner.position(job.size, index)[0]]
            ref = reference(one.kind, one.metadata["name"], one.metadata["uid"])
            body["metadata"]["ownerReferences"] = [ref]

    def _jobs(self, job: Job, owner: Owner) -> Iterator[StoredObject]:
        """The Jobs of a JobSet that exist."""
        for part in range(owner.parts if owner.kind == "JobSet" else 0):
            with suppress(NotFound):
                target = Target(self._namespace, owner.job_name(job.name, part))
                yield self._store.find(JOBS, target)

    def _let_go(self, record: StoredObject) -> None:
        body = record.whole()
        body["metadata"]["finalizers"] = []
        self._store.update(record.kind, record, body)

    def _pods(self, job: Job) -> Iterator[StoredObject]:
        """Its pods, those that have ended or are to end among them."""
        for record in self._store.records(PODS, self._namespace):
            if record.metadata["name"].split("-", 1)[0] == job.name:
                yield record

    def _pod(self, name: str) -> StoredObject | None:
        try:
            return self._store.find(PODS, Target(self._namespace, name))
        except NotFound:
            return None


def _has_failed(record: StoredObject) -> bool:
    """Whether its Job counts it as failed: one that is to end is, unless it has succeeded."""
    phase = record.body["status"].get("phase")
    ending = "deletionTimestamp" in record.metadata
    return phase == "Failed" or (ending and phase != "Succeeded")
