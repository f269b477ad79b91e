"""Who owns pods: makes up for members that are gone, and lets gangs end."""

from __future__ import annotations

from dataclasses import dataclass, field

from k8s_bridge.cluster.errors import NotFound
from k8s_bridge.cluster.kinds import NODES, PODS
from k8s_bridge.cluster.memory.actors import Kubelets, gang, pod
from k8s_bridge.cluster.memory.records import Record
from k8s_bridge.cluster.memory.store import MemoryStore
from k8s_bridge.cluster.protocol import Body, Target

TEAM = "ml"
BACK_AFTER = 1.0
"""Seconds between two looks at what is missing."""
LOST_AFTER = 5.0
"""Seconds after which the pods of a node that is gone are removed."""


@dataclass(slots=True)
class Job:
    """A gang, or a single pod, that somebody wants to run.

    `spoiled` once somebody has meddled with its members, so that it may end up in parts.
    """

    name: str
    size: int
    gpus: int
    single: bool = False
    spoiled: bool = False
    bodies: list[Body] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bodies = (
            [pod(self.name, self.gpus)] if self.single else gang(self.name, self.size, self.gpus)
        )

    @property
    def names(self) -> list[str]:
        """The names of its pods."""
        return [body["metadata"]["name"] for body in self.bodies]


class Jobs:
    """The controllers of all jobs, the kubelets and the collector of orphaned pods."""

    def __init__(self, store: MemoryStore) -> None:
        self.wanted: dict[str, Job] = {}
        self.kubelets = Kubelets(store)
        self._store = store
        self._orphans: dict[str, float] = {}

    def submit(self, job: Job) -> None:
        """Create its pods."""
        self.wanted[job.name] = job
        for body in job.bodies:
            self._store.create(PODS, TEAM, body)

    def retire(self, job: Job) -> None:
        """Delete its pods, finished or not."""
        self.wanted.pop(job.name, None)
        for name in job.names:
            record = self.find(name)
            if record is not None:
                self._store.remove(record)

    def find(self, name: str) -> Record | None:
        """The pod of that name."""
        try:
            return self._store.find(PODS, Target(TEAM, name))
        except NotFound:
            return None

    def members(self, job: Job) -> list[Record]:
        """The pods of a job that exist."""
        return [record for name in job.names if (record := self.find(name)) is not None]

    def make_up(self) -> None:
        """Create what is missing, and replace what has failed."""
        for job in self.wanted.values():
            for body in job.bodies:
                record = self.find(body["metadata"]["name"])
                if record is not None and record.body["status"].get("phase") == "Failed":
                    self._store.remove(record)
                    record = None
                if record is None:
                    self._store.create(PODS, TEAM, body)

    def restart(self, job: Job) -> None:
        """Begin anew with a job in which somebody has meddled, as its owner would."""
        self.retire(job)
        self.submit(Job(job.name, job.size, job.gpus, job.single))

    def collect(self, now: float) -> None:
        """Remove pods that have been on a node that is not there for a while."""
        nodes = {record.metadata["name"] for record in self._store.records(NODES)}
        orphans = {}
        for record in list(self._store.records(PODS)):
            node, uid = record.body["spec"].get("nodeName"), record.metadata["uid"]
            if node and node not in nodes:
                since = orphans[uid] = self._orphans.get(uid, now)
                if now - since >= LOST_AFTER:
                    self._spoil(record.metadata["name"])
                    self._store.remove(record)
        self._orphans = orphans

    def _spoil(self, name: str) -> None:
        for job in self.wanted.values():
            job.spoiled |= name in job.names


def bound(record: Record) -> bool:
    """Whether the pod is on a node."""
    return bool(record.body["spec"].get("nodeName"))


def ended(record: Record) -> bool:
    """Whether the pod has ended."""
    return record.body["status"].get("phase") in ("Succeeded", "Failed")
