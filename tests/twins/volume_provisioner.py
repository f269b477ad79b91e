"""The PersistentVolume controller and a CSI provisioner in memory."""

from __future__ import annotations

from collections.abc import Container

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import NODES, VOLUME_CLAIMS, VOLUMES
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.readers.pods.volumes import SELECTED_NODE


def volume_of(claim: str) -> str:
    """The name of the volume that is made for a claim."""
    return f"pv-{claim}"


class Provisioner:
    """Makes a volume for each claim that a node was selected for, `seconds` later.

    On the nodes of `full`, and on one that is gone, it cannot, and says so as the external
    provisioner does. Volumes can be used on the nodes that have the `label` of the selected one;
    without a label, on all.
    """

    def __init__(self, store: MemoryStore, seconds: float = 3.0, label: str = "") -> None:
        self.full: Container[str] = ()
        self._label = label
        self.selected: list[tuple[str, str]] = []
        self._store = store
        self._seconds = seconds
        self._since: dict[str, float] = {}

    async def run(self) -> None:
        """Look for ever."""
        while True:
            self.step()
            await self._store.clock.sleep(0.5)

    def step(self) -> None:
        """Look at each claim once."""
        for record in list(self._store.records(VOLUME_CLAIMS)):
            self._look(record)

    def _look(self, record: StoredObject) -> None:
        body = record.whole()
        metadata, spec = body["metadata"], body["spec"]
        node = (metadata.get("annotations") or {}).get(SELECTED_NODE)
        if not node or spec.get("volumeName"):
            return
        now, name = self._store.clock.monotonic(), metadata["name"]
        if name not in self._since:
            self._since[name] = now
            self.selected.append((name, node))
        if now - self._since[name] < self._seconds:
            return
        del self._since[name]
        affinity = self._affinity(node)
        if node in self.full or affinity is None:
            del metadata["annotations"][SELECTED_NODE]
            self._store.update(VOLUME_CLAIMS, record, body)
            return
        claim = {"namespace": metadata["namespace"], "name": name}
        volume = {"claimRef": claim, **affinity}
        metadata = {"name": volume_of(name)}
        self._store.create(VOLUMES, "", {"metadata": metadata, "spec": volume})
        body["spec"]["volumeName"] = volume_of(name)
        body["status"] = {"phase": "Bound"}
        self._store.write(record, body)

    def _affinity(self, node: str) -> Body | None:
        """Where a volume made for that node can be used, None where the node is gone."""
        if not self._label:
            return {}
        try:
            value = self._store.find(NODES, Target("", node)).metadata["labels"][self._label]
        except NotFound:
            return None
        where = {"key": self._label, "operator": "In", "values": [value]}
        return {
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [where]}]}}
        }
