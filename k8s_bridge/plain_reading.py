"""Stand-in until the incremental reader is there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from model.readers import Source, read
from model.snapshot import DEFAULTS, Snapshot


@dataclass(frozen=True)
class LiveReading:
    snapshot: Snapshot
    problems: tuple
    uids: dict

    def ours_on(self, node):
        for pod in self.snapshot.running:
            if pod.node == node and pod.ours and pod.gang is not None:
                yield pod.gang, self.uids[pod.namespace, pod.name]


class LiveReader:
    def __init__(self):
        self._bodies: dict[tuple, Any] = {}
        self._assumed: dict[str, str] = {}
        self._config = DEFAULTS
        self._cached = None

    def put(self, group, kind, body):
        m = body["metadata"]
        v = {"": "v1"}.get(group, f"{group}/v1")
        self._bodies[group, kind, m.get("namespace", ""), m["name"]] = {
            "apiVersion": v,
            "kind": kind,
            **body,
        }
        if body.get("spec", {}).get("nodeName"):
            self._assumed.pop(m["uid"], None)
        self._cached = None
        return True

    def remove(self, group, kind, ns, name):
        self._cached = None
        return self._bodies.pop((group, kind, ns, name), None) is not None

    def replace_all(self, group, kind, bodies):
        for key in [k for k in self._bodies if k[:2] == (group, kind)]:
            del self._bodies[key]
        for b in bodies:
            self.put(group, kind, b)
        self._cached = None
        return True

    def assume(self, uid, node):
        if self._assumed.get(uid) != node:
            self._assumed[uid] = node
            self._cached = None

    def release(self, uid):
        self._assumed.pop(uid, None)
        self._cached = None

    def configure(self, config):
        self._config = config
        self._cached = None

    def reading(self, now):
        if self._cached is None:
            objects = []
            for (g, k, ns, n), b in self._bodies.items():
                if (
                    k == "Pod"
                    and b["metadata"]["uid"] in self._assumed
                    and not b.get("spec", {}).get("nodeName")
                ):
                    b = {
                        **b,
                        "spec": {**b["spec"], "nodeName": self._assumed[b["metadata"]["uid"]]},
                    }
                objects.append(b)
            r = read([Source("live", objects=objects)], now, strict=False)
            uids = {
                (ns, n): b["metadata"]["uid"]
                for (g, k, ns, n), b in self._bodies.items()
                if k == "Pod"
            }
            old = getattr(self, "_fabric", None)
            snap = r.snapshot
            if old == snap.fabric:
                snap = replace(snap, fabric=old)
            self._fabric = snap.fabric
            self._cached = LiveReading(snap, r.problems, uids)
        return self._cached
