"""No pod stands where its volumes cannot be used."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS, VOLUME_CLAIMS, VOLUMES, Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.simulation.store import WatchedStore
from tests.simulation.story import Story


class Volumes:
    """Law: a pod that we bind has all its volumes, and its node may use them."""

    def __init__(self, story: Story, store: WatchedStore) -> None:
        self._story = story
        self._store = store

    def on_change(self, kind: Kind, change: StoredChange) -> None:
        """Judge one binding."""
        before, after = change.before, change.after
        if kind is not PODS or before is None or after is None or not self._store.writer:
            return
        node = after.body["spec"].get("nodeName")
        if not node or before.body["spec"].get("nodeName"):
            return
        for claim in _claims(after):
            self._story.did("bound with a volume")
            why = self._why_not(claim, after.namespace, node)
            if why:
                what = f"{after.metadata['name']} is bound to {node}; {why}"
                self._story.broken("a pod stands where its volumes are", what)

    def _why_not(self, claim: str, namespace: str, node: str) -> str:
        try:
            name = self._find(VOLUME_CLAIMS, namespace, claim).body["spec"].get("volumeName")
            if not name:
                return f"claim {claim} has no volume"
            volume = self._find(VOLUMES, "", name).body["spec"]
            labels = self._find(NODES, "", node).metadata["labels"]
        except NotFound as error:
            return str(error)
        for term in volume["nodeAffinity"]["required"]["nodeSelectorTerms"]:
            for one in term["matchExpressions"]:
                if labels.get(one["key"]) not in one["values"]:
                    return f"{name} can be used where {one['key']} is in {one['values']}"
        return ""

    def _find(self, kind: Kind, namespace: str, name: str) -> StoredObject:
        return self._store.find(kind, Target(namespace, name))


def _claims(record: StoredObject) -> list[str]:
    volumes = record.body["spec"].get("volumes") or ()
    return [one["persistentVolumeClaim"]["claimName"] for one in volumes]
