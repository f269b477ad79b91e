"""The PersistentVolume controller and a CSI provisioner in memory."""

from __future__ import annotations

from collections.abc import Container

from fourleaf.k8s_bridge.cluster.kinds import VOLUME_CLAIMS, VOLUMES
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.ledger.volume_provisioning import SELECTED_NODE


class Provisioner:
    """Makes a volume for each claim that a node was selected for, `seconds` later.

    On the nodes of `full` it cannot, and says so as the external provisioner does.
    """

    def __init__(self, store: MemoryStore, seconds: float = 3.0) -> None:
        self.full: Container[str] = ()
        self.selected: list[tuple[str, str]] = []
        self._store = store
        self._seconds = seconds
        self._since: dict[str, float] = {}

    async def run(self) -> None:
        """Look for ever."""
        while True:
            for record in list(self._store.records(VOLUME_CLAIMS)):
                self._look(record)
            await self._store.clock.sleep(0.5)

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
        if node in self.full:
            del metadata["annotations"][SELECTED_NODE]
            self._store.update(VOLUME_CLAIMS, record, body)
            return
        claim = {"namespace": metadata["namespace"], "name": name}
        volume = {"metadata": {"name": f"pv-{name}"}, "spec": {"claimRef": claim}}
        self._store.create(VOLUMES, "", volume)
        body["spec"]["volumeName"] = f"pv-{name}"
        body["status"] = {"phase": "Bound"}
        self._store.write(record, body)
