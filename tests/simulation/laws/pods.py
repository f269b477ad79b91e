"""What no binding and no eviction may do."""

from __future__ import annotations

from collections.abc import Callable

from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject
from fourleaf.k8s_bridge.ledger.names import COMMIT
from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.ledger.records import Phase
from fourleaf.model.crds.claim import CLAIM
from tests.simulation.laws.records import Books
from tests.simulation.store import WatchedStore
from tests.simulation.story import Story

DEVICES = 8
"""GPUs that a node has, before anybody shrinks it."""


class LivePods:
    """The pods on each node, judged before `Books` see a change.

    Laws: no device in two live pods. Devices that a claim wants in a row are in a row. No node
    with more than it ever had. A binding belongs to a commit that counts, for this pod, node and
    devices, and never to one that has fenced it. A pod is evicted by us only where its commit
    goes back, or a relocation says that it goes.
    """

    def __init__(
        self, story: Story, books: Books, store: WatchedStore, on_relocation: Callable[[str], None]
    ) -> None:
        self._on_relocation = on_relocation
        self._story = story
        self._books = books
        self._store = store
        self._on: dict[str, dict[str, tuple[PodSeen, int]]] = {}

    def on_change(self, kind: Kind, change: StoredChange) -> None:
        """Judge one write to a pod."""
        if kind is not PODS:
            return
        before, after = change.before, change.after
        if before is not None:
            node, uid = before.body["spec"].get("nodeName", ""), before.metadata["uid"]
            self._on.get(node, {}).pop(uid, None)
        if after is None:
            return
        seen = pod_seen(after.body)
        if self._store.writer and before is not None:
            self._judge_write(pod_seen(before.body), seen, before, after)
        if seen.node and not seen.finished:
            self._on.setdefault(seen.node, {})[seen.pod.uid] = (seen, _own_gpus(after))
            self._check_node(seen.node)

    def _judge_write(
        self, was: PodSeen, now: PodSeen, before: StoredObject, after: StoredObject
    ) -> None:
        if now.node and not was.node:
            commit = _commit(after)
            self._story.did("bound", f"{now.pod} to {now.node} {now.devices} by {commit}")
            why = self._unfounded(commit, was, now)
            if why:
                self._story.broken("a binding belongs to its commit", why)
            if _in_a_row(after) and now.devices:
                self._story.did("bound by a claim")
            if _in_a_row(after) and not _follow(now.devices):
                what = f"{now.pod} got {now.devices} of {now.node}"
                self._story.broken("who claims devices in a row gets such", what)
        if now.deleting and not was.deleting:
            self._story.did("evicted", f"{now.pod}")
            if self._books.leaves(now.pod.uid):
                self._on_relocation(now.pod.name)
            elif not (was.finished or self._goes_back(now)):
                # One that has ended by itself harms none: a leader's request may come so late.
                what = f"{now.pod} of {_commit(before)}, which neither goes back nor elsewhere"
                self._story.broken("only what goes back or elsewhere is evicted", what)

    def _unfounded(self, commit: str, was: PodSeen, now: PodSeen) -> str:
        """Why the binding is not what a commit says, "" where it is."""
        if was.fence == commit:
            return f"{now.pod} was fenced by {commit}, which binds it"
        for _, entry, _ in self._books.counted():
            for member in entry.members:
                if entry.commit == commit and member.pod.uid == now.pod.uid:
                    if (member.node, member.devices) == (now.node, now.devices):
                        return ""
                    return f"{now.pod}: {commit} says {member.node} {member.devices}"
        return f"{now.pod}: no page holds it for {commit}"

    def _goes_back(self, seen: PodSeen) -> bool:
        return any(
            phase is Phase.ROLLING_BACK
            for _, entry, phase in self._books.counted()
            for member in entry.members
            if member.pod.uid == seen.pod.uid
        )

    def _check_node(self, node: str) -> None:
        holders: dict[int, PodSeen] = {}
        gpus = 0
        for seen, own in self._on[node].values():
            gpus += own
            for device in seen.devices:
                if device in holders:
                    what = f"device {device} of {node}: {holders[device].pod} and {seen.pod}"
                    self._story.broken("no device in two live pods", what)
                holders[device] = seen
        if gpus > DEVICES:
            pods = ", ".join(str(seen.pod) for seen, own in self._on[node].values() if own)
            self._story.broken("no node is given twice", f"{node} holds {gpus} GPUs: {pods}")


def _own_gpus(record: StoredObject) -> int:
    """The GPUs of a pod that we have bound."""
    if not _commit(record):
        return 0
    limits = record.body["spec"]["containers"][0]["resources"]["limits"]
    return int(limits.get("nvidia.com/gpu", 0))


def _in_a_row(record: StoredObject) -> bool:
    return CLAIM in (record.metadata.get("annotations") or {})


def _follow(devices: tuple[int, ...]) -> bool:
    """Whether there are devices, and their numbers follow each other."""
    return bool(devices) and devices[-1] - devices[0] == len(devices) - 1


def _commit(record: StoredObject) -> str:
    return str((record.metadata.get("annotations") or {}).get(COMMIT, ""))
