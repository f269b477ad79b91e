"""Small histories made by hand: what happens is told in order, each thing a revision later."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any

from tests.history.audit import Request
from tests.history.history import USERS, History
from tests.history.versions import Version

Body = dict[str, Any]
PREFIX = "alloc.gpu.scheduling/"
SPAN = 1.0
"""Seconds from one revision to the next."""


def row(pod: str, node: str) -> list[str]:
    """A member in a record; a pod's UID is its name with `uid-` before it."""
    return [pod, f"uid-{pod}", "1", node, ""]


@dataclass(slots=True)
class Story:
    """What happens, one revision after the other. `history` is all of it."""

    revision: int = 0
    requests: list[Request] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    live: dict[tuple[str, str], Body] = field(default_factory=dict)

    def put(self, kind: str, body: Body) -> None:
        """An object is as `body` says from now on."""
        self.revision += 1
        body["metadata"]["resourceVersion"] = str(self.revision)
        name = body["metadata"]["name"]
        body["metadata"].setdefault("uid", f"uid-{name}")
        self.live[kind, name] = copy.deepcopy(body)
        seen = self.revision * SPAN
        self.versions.append(Version(self.revision, kind, copy.deepcopy(body), False, seen))

    def gone(self, kind: str, name: str) -> None:
        """An object is deleted."""
        self.revision += 1
        body = self.live.pop((kind, name))
        self.versions.append(Version(self.revision, kind, body, True, self.revision * SPAN))

    def node(self, name: str, leaf: str = "leaf-0", spine: str = "spine-0", gpus: int = 8) -> None:
        """A ready node."""
        labels = {"fabric.topograph.run/tier-1": spine, "fabric.topograph.run/tier-0": leaf}
        status = {
            "allocatable": {"nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": "True"}],
        }
        self.put(
            "nodes", {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": status}
        )

    def cordon(self, name: str) -> None:
        """A node takes no more pods."""
        body = copy.deepcopy(self.live["nodes", name])
        body["spec"]["unschedulable"] = True
        self.put("nodes", body)

    def pod(
        self,
        name: str,
        gang: str = "",
        size: int = 0,
        gpus: int = 8,
        scheduler: str = "topology-aware-scheduler",
        owner: str = "",
        **labels: str,
    ) -> None:
        """An unbound pod of a gang or alone; an `owner` is the name of a ReplicaSet."""
        annotations = {"topology.scheduler/gang": gang, "topology.scheduler/gang-size": str(size)}
        limits = {"limits": {"nvidia.com/gpu": str(gpus)}}
        body: Body = {
            "metadata": {
                "name": name,
                "namespace": "ml",
                "labels": labels,
                "annotations": annotations if gang else {},
            },
            "spec": {"schedulerName": scheduler, "containers": [{"resources": limits}]},
            "status": {"phase": "Pending"},
        }
        if owner:
            made_by = {"kind": "ReplicaSet", "name": owner, "uid": f"uid-{owner}"}
            body["metadata"]["ownerReferences"] = [{**made_by, "controller": True}]
        self.put("pods", body)

    def bind(self, name: str, node: str, commit: str = "", devices: str = "") -> None:
        """A pod is bound; with `commit` by us, which is asked for and answered."""
        body = copy.deepcopy(self.live["pods", name])
        body["spec"]["nodeName"] = node
        ours = {PREFIX + "commit": commit, PREFIX + "devices": devices}
        body["metadata"]["annotations"].update({k: v for k, v in ours.items() if v})
        if commit:
            self.ask("create", "pods", name, subresource="binding", code=201)
        self.put("pods", body)

    def change(self, name: str, phase: str = "", ready: bool | None = None, **more: str) -> None:
        """A pod's phase, readiness or annotations (by their last part) change."""
        body = copy.deepcopy(self.live["pods", name])
        if phase:
            body["status"]["phase"] = phase
        if ready is not None:
            conditions = [{"type": "Ready", "status": str(ready)}]
            body["status"]["conditions"] = conditions
        for key, value in more.items():
            body["metadata"]["annotations"][PREFIX + key] = value
        self.put("pods", body)

    def page(
        self, name: str, nodes: list[str], entries: list[Body] | None = None, epoch: int = 1
    ) -> None:
        """A page is written."""
        self._record(name, "page", epoch, {"nodes": nodes, "entries": entries or []})

    def gang_lease(
        self, name: str, commit: str, phase: str, rows: list[list[str]], epoch: int = 1
    ) -> None:
        """A gang lease is written, which names page-0 and page-1."""
        pages = ["page-0", "page-1"]
        content = {"commit": commit, "phase": phase, "members": rows, "pages": pages}
        self._record(name, "gang", epoch, content)

    def relocation(
        self,
        gang: str,
        purpose: str,
        seats: list[list[str]],
        leavers: list[list[str]],
        lost: bool = False,
        owner: str = "",
        until: float = 1e12,
    ) -> None:
        """A relocation is written; rows are pod and node."""
        content = {
            "gang": f"ml/{gang}",
            "purpose": purpose,
            "seats": [[pod, f"uid-{pod}", [0, 0, 0], "", node, 0] for pod, node in seats],
            "leavers": [["ml", pod, f"uid-{pod}", node, lost] for pod, node in leavers],
            "owner": owner,
            "until": until,
        }
        self._record(f"relocation-{gang}", "relocation", 1, content)

    def _record(self, name: str, record: str, epoch: int, content: Body) -> None:
        metadata = {
            "name": name,
            "labels": {PREFIX + "record": record},
            "annotations": {PREFIX + "content": json.dumps(content)},
        }
        self.put("leases", {"metadata": metadata, "spec": {"leaseTransitions": epoch}})

    def budget(self, name: str, least: int | str, **labels: str) -> None:
        """A disruption budget keeps so many pods with these labels."""
        spec = {"minAvailable": least, "selector": {"matchLabels": labels}}
        self.put("budgets", {"metadata": {"name": name, "namespace": "ml"}, "spec": spec})

    def ask(
        self,
        verb: str,
        resource: str,
        name: str,
        subresource: str = "",
        code: int = 200,
        sent: Body | None = None,
        at: float | None = None,
        user: str = USERS[0],
        dry_run: bool = False,
        got: Body | None = None,
    ) -> None:
        """A replica of ours asks for something; `at` in seconds, by default now."""
        moment = self.revision * SPAN if at is None else at
        about = (verb, resource, code, subresource, "ml", name, dry_run)
        self.requests.append(Request(moment, moment, user, *about, sent=sent, got=got))

    def evict(self, *names: str, slowly: bool = False) -> None:
        """Pods are evicted by us: answered, and gone at once, or `slowly` not yet."""
        for name in names:
            self.ask("create", "pods", name, "eviction", 201, evicting(name))
            if slowly:
                body = copy.deepcopy(self.live["pods", name])
                body["metadata"] |= {"deletionTimestamp": "x", "deletionGracePeriodSeconds": 30}
                self.put("pods", body)
            else:
                self.gone("pods", name)

    @property
    def history(self) -> History:
        """All that has happened, with what is left of it."""
        left = {
            kind: tuple(body for (one, _), body in self.live.items() if one == kind)
            for kind in ("pods", "leases")
        }
        return History(tuple(self.requests), tuple(self.versions), left["pods"], left["leases"])


def evicting(name: str) -> Body:
    """What is sent to evict a pod."""
    return {"deleteOptions": {"preconditions": {"uid": f"uid-{name}"}}}


def entry(commit: str, *rows: list[str], lease: str = "", phase: str = "Committed") -> Body:
    """An entry of a page."""
    return {"commit": commit, "members": list(rows), "lease": lease, "phase": phase}


def good() -> Story:
    """A gang of two on one page, as it should be: two nodes, record, bindings."""
    story = Story()
    for name in ("n0", "n1"):
        story.node(name)
    story.page("page-0", ["n0", "n1"])
    for i in range(2):
        story.pod(f"g-{i}", "g", 2)
    story.page("page-0", ["n0", "n1"], [entry("c1", row("g-0", "n0"), row("g-1", "n1"))])
    for i in range(2):
        story.bind(f"g-{i}", f"n{i}", "c1", "0,1,2,3,4,5,6,7")
    return story
