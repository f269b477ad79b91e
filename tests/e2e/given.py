"""Rows of the tables as a real API server takes them: made all at once, and all gone after."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from fourleaf.model.readers.pods.volumes import SELECTED_NODE
from tests.controlplane.api import Api
from tests.controlplane.fleet import ready_condition
from tests.controlplane.waiting import eventually
from tests.filters.kube_filters import Body
from tests.filters.tables.table import HOST, REQUIRED, SPACES, Row
from tests.filters.tables.volumes import BOUND

AT_ONCE = 8
"""Requests under way at a time."""

SETTLE = 0.1
"""Seconds in which both schedulers usually have heard of a whole cluster before its pod comes."""

LONG_SETTLE = 3.0
"""Seconds in which they have heard of it on a busy machine too."""

PATIENCE = 15.0
"""Seconds that a scheduler has to bind a pod, once it has seen the pod."""

KEPT = "fourleaf.test/kept"
"""The finalizer of what is being deleted and stays until its row is over."""

STORAGE = "/apis/storage.k8s.io/v1"
PATHS = {
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
    "PersistentVolumeClaim": "/api/v1/namespaces/{namespace}/persistentvolumeclaims",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "StorageClass": f"{STORAGE}/storageclasses",
    "CSIDriver": f"{STORAGE}/csidrivers",
    "CSINode": f"{STORAGE}/csinodes",
    "CSIStorageCapacity": STORAGE + "/namespaces/{namespace}/csistoragecapacities",
    "VolumeAttachment": f"{STORAGE}/volumeattachments",
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
}
"""Kind -> the collection of its objects."""


def collection(body: Body) -> str:
    """The path at which an object is made."""
    return PATHS[body["kind"]].format(namespace=body["metadata"].get("namespace", ""))


def objects(row: Row) -> list[Body]:
    """What stands in the cluster of a row, without the pod that waits, as it is to be sent."""
    case = row.case
    bodies = [body for body in case.objects if body is not case.pod]
    return [taken(body) for body in bodies if body["kind"] != "Namespace"]


def taken(body: Body) -> Body:
    """An object with what the API server asks for and the readers do without."""
    body = json.loads(json.dumps(body))
    body["metadata"].pop("uid", None)
    match body["kind"]:
        case "Node":
            status = body["status"]
            status["conditions"] = [ready_condition()]
            status["capacity"] = status["allocatable"]
        case "Pod":
            _complete(body["spec"])
        case "PersistentVolume":
            body["spec"].setdefault("accessModes", ["ReadWriteOnce"])
    return body


def _complete(spec: Body) -> None:
    """Give containers an image, and ephemeral volumes what their claims ask for."""
    for one in (*spec.get("initContainers", ()), *spec["containers"]):
        one["image"] = "image"
    for one in spec.get("volumes", ()):
        if "ephemeral" in one:
            asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}
            one["ephemeral"]["volumeClaimTemplate"]["spec"] = asked


@dataclass(frozen=True, slots=True)
class Answer:
    """Where a scheduler has put a pod, or why it leaves it waiting."""

    node: str = ""
    why: str = ""


class Stage:
    """A cluster of nothing but what a row says, on a control plane that many rows use in turn.

    It plays the controllers of volumes too: once a scheduler has chosen a place for a claim, the
    volume is made there and the claim bound to it.
    """

    def __init__(self, api: Api, pool: ThreadPoolExecutor) -> None:
        self._api = api
        self._pool = pool

    def answer(self, row: Row, scheduler: str, fits: frozenset[str]) -> Answer:
        """What a scheduler does with the pod of the row, in the cluster of the row.

        Each kind of object comes to it on its own way. An answer that is none of `fits` may be that
        of a scheduler that did not know all of the cluster: it is asked once more, more slowly.
        """
        answer = self._answer(row, scheduler, bool(fits), SETTLE)
        if answer.node in (fits or {""}):
            return answer
        return self._answer(row, scheduler, bool(fits), LONG_SETTLE)

    def _answer(self, row: Row, scheduler: str, binds: bool, settle: float) -> Answer:
        """The same, once; what is thought to be bound has time to be, after it was said to wait."""
        pod = taken(row.case.pod)
        pod["spec"]["schedulerName"] = scheduler
        path = f"{collection(pod)}/{pod['metadata']['name']}"
        with self._cluster(row):
            time.sleep(settle)
            self._submit(pod)
            answer = eventually(lambda: self._said(path), f"{scheduler} answers for: {row.name}")
            until = time.monotonic() + (PATIENCE if binds else settle)
            while not answer.node and time.monotonic() < until:
                time.sleep(0.05)
                answer = self._said(path) or answer
            return answer

    def _submit(self, pod: Body) -> None:
        """Create the pod that waits; where its labels change, no scheduler sees it before."""
        later = born(pod)
        if later:
            pod["spec"]["schedulingGates"] = [{"name": KEPT}]
        self._api.create(collection(pod), pod)
        if later:
            path = f"{collection(pod)}/{pod['metadata']['name']}"
            self._api.patch(path, {**later, "spec": {"schedulingGates": None}})

    def _said(self, path: str) -> Answer | None:
        pod = self._api.get(path)
        if node := pod["spec"].get("nodeName"):
            return Answer(node)
        self._provide(pod["metadata"]["namespace"])
        for one in pod.get("status", {}).get("conditions", ()):
            if one["type"] == "PodScheduled" and one["reason"] != "SchedulingGated":
                return Answer(why=one["message"])
        return None

    def _provide(self, space: str) -> None:
        """Bind each claim for which a node, or a volume that is there, has been chosen."""
        path = PATHS["PersistentVolumeClaim"].format(namespace=space)
        for claim in self._api.get(path)["items"]:
            about = claim["metadata"]
            said = about.get("annotations", {})
            if "volumeName" in claim["spec"] or "deletionTimestamp" in about:
                continue
            reserved = [
                one
                for one in self._volumes()
                if one["spec"].get("claimRef", {}).get("uid") == about["uid"]
            ]
            if not reserved and SELECTED_NODE not in said:
                continue
            name = reserved[0]["metadata"]["name"] if reserved else f"made-for-{about['name']}"
            if not reserved:
                self._make(made_for(claim, name, said[SELECTED_NODE]))
            bound = {"metadata": {"annotations": BOUND}, "spec": {"volumeName": name}}
            self._api.patch(f"{path}/{about['name']}", bound)
            self._api.patch(f"{path}/{about['name']}/status", {"status": {"phase": "Bound"}})

    def _volumes(self) -> list[Body]:
        found: list[Body] = self._api.get(PATHS["PersistentVolume"])["items"]
        return found

    @contextmanager
    def _cluster(self, row: Row) -> Iterator[None]:
        """The cluster of the row; every object is gone on the way out."""
        try:
            bodies = objects(row)
            first = [one for one in bodies if one["kind"] != "PersistentVolume"]
            uids = dict(self._pool.map(self._make, first))
            volumes = [one for one in bodies if one["kind"] == "PersistentVolume"]
            for body in volumes:
                if claim := body["spec"].get("claimRef"):
                    claim["uid"] = uids.get(("PersistentVolumeClaim", claim["name"]), "gone")
            list(self._pool.map(self._make, volumes))
            yield
        finally:
            self._clear()

    def _make(self, body: Body) -> tuple[tuple[str, str], str]:
        """Create an object, bring it to its state, and tell its kind, name and uid."""
        metadata, path = body["metadata"], collection(body)
        ends = metadata.pop("deletionTimestamp", None)
        if ends and body["kind"] != "Pod":
            metadata["finalizers"] = [KEPT]
        later = born(body)
        made = self._api.create(path, body)
        path = f"{path}/{metadata['name']}"
        if later:
            self._api.patch(path, later)
        if body.get("status") and body["kind"] != "Node":
            self._api.patch(f"{path}/status", {"status": body["status"]})
        if ends:
            self._api.delete(path)
        return (body["kind"], metadata["name"]), made["metadata"]["uid"]

    def _clear(self) -> None:
        """Delete all that a row has; what has no controller to wait for is gone at once."""
        for path in _collections("PersistentVolumeClaim"):
            for one in self._api.get(path)["items"]:
                if one["metadata"].get("finalizers"):
                    kept = f"{path}/{one['metadata']['name']}"
                    self._api.patch(kept, {"metadata": {"finalizers": None}})
        paths = list(_collections(*PATHS))
        list(self._pool.map(self._empty, paths))

    def _empty(self, path: str) -> None:
        self._api.delete(f"{path}?gracePeriodSeconds=0")
        eventually(lambda: not self._api.get(path)["items"], f"{path} is empty")


def _collections(*kinds: str) -> Iterator[str]:
    for kind in kinds:
        path = PATHS[kind]
        spaces = SPACES if "{namespace}" in path else ("",)
        yield from (path.format(namespace=space) for space in spaces)


def made_for(claim: Body, name: str, node: str) -> Body:
    """The volume that a driver makes for a claim on the node that was chosen for it."""
    about, spec = claim["metadata"], claim["spec"]
    terms = [{"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}]
    owner = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": spec["resources"]["requests"],
            "claimRef": {**owner, **{key: about[key] for key in ("namespace", "name", "uid")}},
            "csi": {"driver": "csi.example.com", "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "storageClassName": spec.get("storageClassName", ""),
        },
        "status": {"phase": "Bound"},
    }


def born(body: Body) -> Body:
    """Take out what the API server itself puts into a pod, and tell the labels to be set later.

    It writes the values of `matchLabelKeys` into selectors when a pod comes. Where a row has others
    than those of the labels, the labels have changed since.
    """
    if body["kind"] != "Pod":
        return {}
    labels = body["metadata"]["labels"]
    before = dict(labels)
    for term in terms_of(body["spec"]):
        selector = term.get("labelSelector", {})
        for keys in (term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ())):
            for key in keys:
                selector.get("matchLabels", {}).pop(key, None)
                kept = []
                for one in selector.get("matchExpressions", ()):
                    if one["key"] == key:
                        (before[key],) = one["values"]
                    else:
                        kept.append(one)
                selector["matchExpressions"] = kept
    body["metadata"]["labels"] = before
    return {} if before == labels else {"metadata": {"labels": labels}}


def terms_of(spec: Body) -> Iterator[Body]:
    """The required terms of affinity and the constraints of spread of a pod."""
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from spec.get("affinity", {}).get(kind, {}).get(REQUIRED, ())
    yield from spec.get("topologySpreadConstraints", ())
