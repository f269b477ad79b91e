"""What those may do next who are no leaders: kubelets, controllers, and who submits gangs."""

from __future__ import annotations

from collections.abc import Iterator

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, pod
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.readers.objects.annotations import MOVABLE
from tests.explorer.relocation.store import JudgingStore
from tests.explorer.relocation.story import Job, Story
from tests.k8s_bridge.ledger.harness import TEAM
from tests.twins.jobs import INDEX

KUBELET, OWNER, END = "kubelet", "owner", "end"
TRAINER = {"apiVersion": "example.org/v1", "kind": "Trainer", "controller": True}


def due(store: JudgingStore, story: Story) -> Iterator[tuple[str, str]]:
    """Who may do something, and of which pod."""
    for record in store.pods():
        name, node = record.metadata["name"], record.body["spec"].get("nodeName", "")
        if "deletionTimestamp" in record.metadata:
            if node not in story.lost:
                yield KUBELET, name
        elif node and story.job(job_of(record)).ends and not _is_over(record):
            yield END, name
    for job in story.jobs:
        if not job.late or store.moved:
            yield from ((OWNER, name) for name in missing(store, job))


def do(store: JudgingStore, story: Story, who: str, name: str) -> str:
    """Let that happen; in words."""
    if who == KUBELET:
        store.finish(TEAM, name)
        return f"kubelet: {name} has stopped"
    if who == END:
        record = store.find(PODS, Target(TEAM, name))
        body = record.whole()
        body["status"]["phase"] = "Succeeded"
        store.update(PODS, record, body, "status")
        return f"kubelet: {name} has come to its end"
    job = next(one for one in story.jobs if name in missing(store, one))
    make(store, job, name)
    return f"owner: creates {name}"


def missing(store: JudgingStore, job: Job) -> list[str]:
    """Names for the members of `job` that nobody is at present."""
    found = []
    there = [record for record in store.pods() if job_of(record) == job.name]
    for index in range(job.size):
        mine = [r for r in there if r.metadata["labels"][INDEX] == str(index)]
        live = [r for r in mine if job.same_name or "deletionTimestamp" not in r.metadata]
        if not live:
            found.append(job.pod(index, store.made(job.name, index)))
    return found


def make(store: JudgingStore, job: Job, name: str) -> None:
    """Create a member."""
    index = name.removeprefix(f"{job.name}-").split("-")[0]
    said = {GANG: job.name, GANG_SIZE: str(job.size)}
    if job.movable:
        said[MOVABLE] = "true"
    owner = TRAINER | {"name": job.name, "uid": f"trainer-{job.name}"}
    body = pod(name, gpus=1, annotations=said, labels={INDEX: index}, ownerReferences=[owner])
    if job.priority:
        body["spec"]["priorityClassName"] = job.priority
    store.create(PODS, TEAM, body)


def job_of(record: StoredObject) -> str:
    """The job that a pod belongs to."""
    return str(record.metadata["annotations"][GANG])


def _is_over(record: StoredObject) -> bool:
    return bool(record.body["status"].get("phase") == "Succeeded")
