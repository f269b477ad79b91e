"""Who owns pods: makes up for members that are gone, and lets gangs end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import (
    GPU_CLAIMS,
    NODES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
    Kind,
)
from fourleaf.k8s_bridge.cluster.memory.actors import Kubelets, gang, pod
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.readers.gangs.dialects import COSCHEDULING_LABELS
from tests.simulation.controllers.controllers import OwnerControllers
from tests.simulation.controllers.owner import Owner
from tests.twins.jobs import INDEX as JOB_INDEX
from tests.twins.volume_provisioner import volume_of

TEAM = "ml"
STORAGE_CLASS = "fast"
POD_GROUP = COSCHEDULING_LABELS[0]
MOST_JOBS = 14
"""How many jobs there may be at a time."""
BACK_AFTER = 1.0
"""Seconds between two looks at what is missing."""
LOST_AFTER = 5.0
"""Seconds after which the pods of a node that is gone are removed."""


def row(count: int) -> str:
    """The name of the claim for so many devices in a row."""
    return f"row-of-{count}"


def job_name(name: str) -> str:
    """The job that a pod or a gang of that name belongs to."""
    return name.split("-", 1)[0]


@dataclass(slots=True)
class Job:
    """A gang, or a single pod, that somebody wants to run.

    `spoiled` once somebody has meddled with its members, so that it may end up in parts.
    `terms` are on which its pods may go elsewhere, `early`: who takes the place of a member has
    another name and comes as soon as that is to end, as with a Job; else once it is gone. Of one
    that is `grouped`, a PodGroup says how many members it has; where it has an `owner`, an object
    of its controller does. Where it has `volumes`, each member has a claim of its own, which who
    takes its place has as well.
    """

    name: str
    size: int
    gpus: int
    single: bool = False
    priority: str = ""
    terms: dict[str, str] = field(default_factory=dict)
    early: bool = False
    grouped: bool = False
    owner: Owner | None = None
    volumes: bool = False
    spoiled: bool = False
    bodies: list[Body] = field(default_factory=list)
    comers: int = 0

    def __post_init__(self) -> None:
        if self.single:
            self.bodies = [pod(self.name, self.gpus, annotations=dict(self.terms))]
        elif self.owner is not None:
            self.bodies = self.owner.pods(self.name, self.size, self.gpus, self.terms)
            self.comers = max(self.comers, self.size - 1)
        else:
            self.bodies = gang(self.name, self.size, self.gpus, **self.terms)
        for index, body in enumerate(self.bodies):
            body["metadata"].setdefault("labels", {JOB_INDEX: str(index)})
            if self.grouped:
                body["metadata"]["annotations"] = dict(self.terms)
                body["metadata"]["labels"][POD_GROUP] = self.name
            if self.early:
                body["metadata"]["ownerReferences"] = [self._stranger]
            if self.volumes:
                claim = {"claimName": self.claims[index]}
                body["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": claim}]
            if self.priority:
                body["spec"]["priorityClassName"] = self.priority

    @property
    def _stranger(self) -> Body:
        """A controller of a kind that says nothing about the size of gangs."""
        return {
            "apiVersion": "example.org/v1",
            "kind": "Training",
            "name": self.name,
            "uid": f"training-{self.name}",
            "controller": True,
        }

    def another(self, index: int) -> Body:
        """A pod in the place of the one of that index, with a name of its own."""
        self.comers += 1
        old = self.bodies[index]
        name = f"{self.name}-{index}-{self.comers}"
        if self.owner is not None:
            name = self.owner.pod_name(self.name, self.size, index, self.comers)
        metadata = old["metadata"] | {"name": name}
        self.bodies[index] = {**old, "metadata": metadata}
        return self.bodies[index]

    @property
    def claims(self) -> list[str]:
        """The names of its claims for volumes."""
        return [f"{self.name}-{index}" for index in range(self.size)] if self.volumes else []

    @property
    def names(self) -> list[str]:
        """The names of its pods."""
        return [body["metadata"]["name"] for body in self.bodies]


class Jobs:
    """The controllers of all jobs, the kubelets and the collector of orphaned pods."""

    def __init__(self, store: MemoryStore, did: Callable[[str, str], None]) -> None:
        self.wanted: dict[str, Job] = {}
        self.kubelets = Kubelets(store)
        self._controllers = OwnerControllers(store, TEAM, did)
        self._store = store
        self._orphans: dict[str, float] = {}

    @property
    def has_room(self) -> bool:
        """Whether there may be one more."""
        return len(self.wanted) < MOST_JOBS

    def claims(self) -> None:
        """Create the claims that jobs may name, and the class of their volumes."""
        body = {"metadata": {"name": STORAGE_CLASS}, "provisioner": "disk.example.org"}
        mode = {"volumeBindingMode": "WaitForFirstConsumer"}
        self._store.create(STORAGE_CLASSES, "", body | mode)
        for count in (1, 2, 4):
            spec = {"devices": {"count": count, "policy": "contiguous"}}
            self._store.create(GPU_CLAIMS, TEAM, {"metadata": {"name": row(count)}, "spec": spec})

    def submit(self, job: Job) -> None:
        """Create its owner, its claims for volumes, and its pods."""
        self.wanted[job.name] = job
        if job.owner is not None:
            self._controllers.begin(job, job.owner)
        for name in job.claims:
            spec = {"storageClassName": STORAGE_CLASS, "accessModes": ["ReadWriteOnce"]}
            body = {"metadata": {"name": name}, "spec": spec}
            self._store.create(VOLUME_CLAIMS, TEAM, body)
        for body in job.bodies:
            self._store.create(PODS, TEAM, body)

    def retire(self, job: Job) -> None:
        """Delete its owner, its pods, finished or not, and its volumes."""
        self.wanted.pop(job.name, None)
        if job.owner is not None:
            self._controllers.remove(job, job.owner)
        for name in job.claims:
            self._remove(VOLUME_CLAIMS, Target(TEAM, name))
            self._remove(VOLUMES, Target("", volume_of(name)))
        for name in job.names:
            record = self.find(name)
            if record is not None:
                self._store.remove(record)

    def _remove(self, kind: Kind, target: Target) -> None:
        with suppress(NotFound):
            self._store.remove(self._store.find(kind, target))

    def find(self, name: str) -> StoredObject | None:
        """The pod of that name."""
        try:
            return self._store.find(PODS, Target(TEAM, name))
        except NotFound:
            return None

    def members(self, job: Job) -> list[StoredObject]:
        """The pods of a job that exist."""
        return [record for name in job.names if (record := self.find(name)) is not None]

    def make_up(self) -> None:
        """Create what is missing, and replace what has failed."""
        for job in self.wanted.values():
            if job.owner is not None and job.owner.backs_off:
                self._controllers.make_up(job, job.owner)
                continue
            for index, body in enumerate(job.bodies):
                record = self.find(body["metadata"]["name"])
                if record is not None and record.body["status"].get("phase") == "Failed":
                    self._store.remove(record)
                    record = self.find(body["metadata"]["name"])
                if record is None:
                    self._store.create(PODS, TEAM, body)
                elif job.early and "deletionTimestamp" in record.metadata:
                    self._store.create(PODS, TEAM, job.another(index))

    def is_pinned(self, job: Job) -> bool:
        """Whether no member runs, and volumes that were made hold them to where it was to go once.

        A gang that goes back as one volume cannot be made leaves the others where they are.
        """
        claims = self._store.records(VOLUME_CLAIMS, TEAM)
        own = [one for one in claims if one.metadata["name"] in job.claims]
        made = any(one.body["spec"].get("volumeName") for one in own)
        return made and not any(bound(one) for one in self.members(job))

    def restart(self, job: Job) -> None:
        """Begin anew with a job in which somebody has meddled, or that is pinned."""
        self.retire(job)
        owner = job.owner.fresh() if job.owner is not None else None
        self.submit(replace(job, owner=owner, spoiled=False, comers=0))

    def collect(self, now: float) -> None:
        """Remove pods that have been on a node that is not there for a while."""
        nodes = {record.metadata["name"] for record in self._store.records(NODES)}
        orphans = {}
        for record in list(self._store.records(PODS)):
            node, uid = record.body["spec"].get("nodeName"), record.metadata["uid"]
            if node and node not in nodes:
                since = orphans[uid] = self._orphans.get(uid, now)
                if now - since >= LOST_AFTER:
                    self.spoil(record.metadata["name"])
                    self._store.remove(record)
        self._orphans = orphans

    def backs_off(self, name: str) -> bool:
        """Whether a Job makes the pods of that job, and another of each that is lost."""
        job = self.wanted.get(name)
        owner = job.owner if job is not None else None
        return owner is not None and owner.backs_off and not owner.starts_over

    def spoil(self, name: str) -> None:
        """Somebody has meddled with the pod of that name."""
        for job in self.wanted.values():
            job.spoiled |= name in job.names


def bound(record: StoredObject) -> bool:
    """Whether the pod is on a node."""
    return bool(record.body["spec"].get("nodeName"))


def ended(record: StoredObject) -> bool:
    """Whether the pod has ended."""
    return record.body["status"].get("phase") in ("Succeeded", "Failed")
