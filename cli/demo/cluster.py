"""The cluster of the demo: nodes, teams and kubelets, all in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS, PRIORITY_CLASSES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, MemoryStore, actors
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey

LEAF_SIZE = 4
LEAVES_PER_SPINE = 8
GPUS = 8
PRODUCTION = "production"


@dataclass(frozen=True, slots=True)
class DemoGang:
    """A gang that is submitted: `pods` pods of `gpus` GPUs each.

    `leaf` ties it to one leaf; `late` of its pods are not there at first.
    """

    key: GangKey
    pods: int
    gpus: int = GPUS
    production: bool = False
    leaf: str = ""
    late: int = 0

    def __str__(self) -> str:
        pods = f"{self.pods} pod" + ("" if self.pods == 1 else "s")
        return f"{self.key} ({pods} of {self.gpus} GPUs)"


class Twin:
    """Everything that is not the scheduler. `casts` are all gangs that were ever submitted."""

    def __init__(self, clock: Clock, nodes: int, seed: int) -> None:
        self.store = MemoryStore(clock, seed)
        self.cluster = MemoryCluster(self.store)
        self.kubelets = actors.Kubelets(self.store)
        self.casts: dict[GangKey, DemoGang] = {}
        self.leaves = [
            (f"spine-{leaf // LEAVES_PER_SPINE}", f"leaf-{leaf:02}")
            for leaf in range(nodes // LEAF_SIZE)
        ]

    async def build(self) -> None:
        """Bring the nodes, and the priority class of production."""
        bodies = [
            actors.node(f"gpu-{i * LEAF_SIZE + j:03}", leaf, spine, GPUS)
            for i, (spine, leaf) in enumerate(self.leaves)
            for j in range(LEAF_SIZE)
        ]
        await actors.add_nodes(self.cluster, bodies)
        body = {"metadata": {"name": PRODUCTION}, "value": 1000}
        await self.cluster.create(PRIORITY_CLASSES, "", body)

    async def submit(self, cast: DemoGang) -> None:
        """Create the pods of a gang, but for those that come late."""
        self.casts[cast.key] = cast
        there = self._pods(cast)[: cast.pods - cast.late]
        await actors.submit(self.cluster, cast.key.namespace, there)

    async def complete(self, key: GangKey) -> None:
        """Create the pods that were late."""
        cast = self.casts[key]
        self.casts[key] = replace(cast, late=0)
        late = self._pods(cast)[cast.pods - cast.late :]
        await actors.submit(self.cluster, key.namespace, late)

    def end(self, key: GangKey) -> None:
        """Let all pods of a gang end well."""
        self.kubelets.finish(key.namespace, self._names(self.casts[key]))

    async def cordon(self, node: str) -> None:
        """Let nothing new onto `node`."""
        await self.cluster.patch(NODES, Target("", node), {"spec": {"unschedulable": True}})

    def pods(self, key: GangKey) -> Iterator[Body]:
        """The pods of a gang that exist."""
        names = set(self._names(self.casts[key]))
        for record in self.store.records(PODS, key.namespace):
            if record.metadata["name"] in names:
                yield record.body

    def standing(self, key: GangKey) -> int:
        """How many pods of a gang have got a node, those that have ended included."""
        return sum(bool(pod["spec"].get("nodeName")) for pod in self.pods(key))

    def whole(self, key: GangKey) -> bool:
        """Whether all pods of a gang have got a node."""
        return self.standing(key) == self.casts[key].pods

    def live(self) -> Iterator[Body]:
        """The pods that hold a node."""
        for record in self.store.records(PODS):
            if record.body["spec"].get("nodeName") and not ended(record.body):
                yield record.body

    def running(self) -> list[GangKey]:
        """The gangs of which something runs."""
        held = {(pod["metadata"]["namespace"], gang_name(pod)) for pod in self.live()}
        return sorted(GangKey(namespace, name) for namespace, name in held)

    def leaf_of(self, node: str) -> int:
        """The position of the leaf of `node`."""
        return int(node.rpartition("-")[2]) // LEAF_SIZE

    def _names(self, cast: DemoGang) -> list[str]:
        return [f"{cast.key.name}-{i}" for i in range(cast.pods)]

    def _pods(self, cast: DemoGang) -> list[Body]:
        bodies = actors.gang(cast.key.name, cast.pods, cast.gpus)
        for body in bodies:
            if cast.production:
                body["spec"]["priorityClassName"] = PRODUCTION
            if cast.leaf:
                body["spec"]["nodeSelector"] = {actors.LEAF: cast.leaf}
        return bodies


def ended(pod: Body) -> bool:
    """Whether a pod holds nothing any more."""
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def gang_name(pod: Body) -> str:
    """The name of a pod's gang."""
    return str(pod["metadata"]["annotations"][actors.GANG])
