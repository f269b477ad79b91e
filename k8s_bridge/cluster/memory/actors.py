"""The others in a cluster: who brings nodes, submits gangs, and runs what is bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import AlreadyExists
from fourleaf.k8s_bridge.cluster.kinds import NAMESPACES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.runtime.api_text import second
from fourleaf.model.devices.visibility import ENTRY

SPINE = "fabric.topograph.run/tier-1"
LEAF = "fabric.topograph.run/tier-0"
GANG = "topology.scheduler/gang"
GANG_SIZE = "topology.scheduler/gang-size"
OURS = "topology-aware-scheduler"


def node(name: str, leaf: str, spine: str, gpus: int = 8, **labels: str) -> Body:
    """A ready node under `leaf` and `spine`: `gpus` GPUs, 64 cores, 512 GiB, 110 pods."""
    amounts = {"nvidia.com/gpu": str(gpus), "cpu": "64", "memory": "512Gi", "pods": "110"}
    places = {"kubernetes.io/hostname": name, LEAF: leaf, SPINE: spine}
    return {
        "metadata": {"name": name, "labels": places | labels},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "addresses": [{"type": "InternalIP", "address": name}],
        },
    }


def nodes(spines: int, leaves: int, size: int, gpus: int = 8) -> list[Body]:
    """The nodes of a fabric: `spines` of `leaves` leaves each, of `size` nodes each."""
    return [
        node(f"n-{s}-{leaf}-{n}", f"leaf-{s}-{leaf}", f"spine-{s}", gpus)
        for s in range(spines)
        for leaf in range(leaves)
        for n in range(size)
    ]


def pod(name: str, gpus: int = 8, scheduler: str = OURS, **metadata: Any) -> Body:
    """A pod for our scheduler, of one container with `gpus` GPUs."""
    spec = {"schedulerName": scheduler, "containers": [container(gpus)]}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def container(gpus: int = 0) -> Body:
    """A container with `gpus` GPUs that is told which they are, as the webhook leaves it."""
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"name": "main", "image": "train", "resources": {"limits": limits}, "env": [ENTRY]}


def gang(name: str, size: int, gpus: int = 8, **annotations: str) -> list[Body]:
    """The `size` pods of a gang, named `name`-0 and so on; more `annotations` for each."""
    said = {GANG: name, GANG_SIZE: str(size)} | annotations
    return [pod(f"{name}-{i}", gpus, annotations=said) for i in range(size)]


async def add_namespace(cluster: Cluster, name: str) -> None:
    """Create a namespace where there is none of that name."""
    try:
        await cluster.create(NAMESPACES, "", {"metadata": {"name": name}})
    except AlreadyExists:
        return


async def add_nodes(cluster: Cluster, bodies: Iterable[Body]) -> list[Target]:
    """Create nodes; who they are."""
    made = [await cluster.create(NODES, "", body) for body in bodies]
    return [target(body) for body in made]


async def submit(cluster: Cluster, namespace: str, bodies: Iterable[Body]) -> list[Target]:
    """Create pods, in a namespace that is made where it lacks; who they are."""
    await add_namespace(cluster, namespace)
    made = [await cluster.create(PODS, namespace, body) for body in bodies]
    return [target(body) for body in made]


def target(body: Body) -> Target:
    """Name an object as it was read: with its UID and version."""
    metadata = body["metadata"]
    return Target(
        metadata.get("namespace", ""),
        metadata["name"],
        metadata["uid"],
        metadata["resourceVersion"],
    )


class Kubelets:
    """All kubelets of a cluster in memory: they run what is bound and stop what is deleted.

    Nodes in `silent` do nothing; nor do nodes that do not exist.
    """

    def __init__(self, store: MemoryStore) -> None:
        self.silent: set[str] = set()
        self._store = store

    def step(self) -> int:
        """Do what there is to do; how many pods that was."""
        alive = {record.metadata["name"] for record in self._store.records(NODES)} - self.silent
        done = 0
        for record in self._store.bound():
            if record.body["spec"]["nodeName"] in alive:
                done += self._serve(record)
        return done

    def finish(self, namespace: str, names: Sequence[str], phase: str = "Succeeded") -> None:
        """Let running pods end in `phase`: `Succeeded` or `Failed`."""
        for name in names:
            record = self._store.find(PODS, Target(namespace, name))
            self._status(record, phase, "False", "PodCompleted")

    async def run(self, seconds: float = 0.1) -> None:
        """Step for ever, with `seconds` of the store's clock in between."""
        while True:
            self.step()
            await self._store.clock.sleep(seconds)

    def _serve(self, record: StoredObject) -> bool:
        if "deletionTimestamp" in record.metadata:
            self._store.finish(record.namespace, record.metadata["name"])
            return True
        if record.body["status"].get("phase") == "Pending":
            self._status(record, "Running", "True", "")
            return True
        return False

    def _status(self, record: StoredObject, phase: str, ready: str, reason: str) -> None:
        body = record.whole()
        status = body["status"]
        status.setdefault("startTime", second(self._store.clock.wall()))
        kept = [c for c in status.get("conditions") or () if c.get("type") != "Ready"]
        condition = {"type": "Ready", "status": ready}
        status["conditions"] = [*kept, condition | ({"reason": reason} if reason else {})]
        status["phase"] = phase
        self._store.update(PODS, record, body, "status")
