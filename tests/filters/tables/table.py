"""A row of the tables: four nodes in two zones, what stands there, and a pod that waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.filters.kube_filters import Body, Case
from tests.model.readers.made import LEAF, OURS, SPINE

HOST = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ZONES = {"n0": "z0", "n1": "z0", "n2": "z1", "n3": "z1"}
ALL = "n0 n1 n2 n3"
SPACES = {"ml": {}, "ops": {"team": "ops"}}


@dataclass(frozen=True, slots=True)
class Standing:
    """A pod of label `app` that runs on `node`, with more fields of its spec, and its status."""

    node: str
    app: str = "a"
    namespace: str = "ml"
    spec: Body = field(default_factory=dict)
    status: Body = field(default_factory=dict)
    cpu: str = "100m"
    going: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What a pod with `spec` is asked of, and the nodes that it `fits`, apart by spaces.

    `nodes` are changes of nodes: labels, taints, features, or other fields of their bodies. With
    `refused`, a field of the pod, Fourleaf holds it by that name; with `gated`, it waits. `unused`
    are nodes of those that Fourleaf does not use, as the page of predicates says.
    """

    name: str
    fits: str
    spec: Body = field(default_factory=dict)
    standing: tuple[Standing, ...] = ()
    nodes: Mapping[str, Body] = field(default_factory=dict)
    others: tuple[Body, ...] = ()
    app: str = "a"
    requests: Body = field(default_factory=lambda: {"cpu": "100m"})
    refused: str = ""
    gated: str = ""
    unused: str = ""

    @property
    def case(self) -> Case:
        """The cluster and the pod as manifests."""
        spaces = [_body("v1", "Namespace", n, "", labels=_space(n, s)) for n, s in SPACES.items()]
        nodes = [_node(name, self.nodes.get(name, {})) for name in ZONES]
        running = [_running(number, one) for number, one in enumerate(self.standing)]
        spec = {"schedulerName": OURS, **_containers(self.requests), **self.spec}
        pod = _body("v1", "Pod", "p", "ml", labels={"app": self.app}) | {"spec": spec}
        return Case((*spaces, *nodes, *self.others, *running, pod), pod)


def _body(version: str, kind: str, name: str, namespace: str, **metadata: Any) -> Body:
    place = {"namespace": namespace} if namespace else {}
    about = {"name": name, "uid": f"{kind}-{name}", **place, **metadata}
    return {"apiVersion": version, "kind": kind, "metadata": about}


def _space(name: str, labels: Mapping[str, str]) -> Body:
    return {"kubernetes.io/metadata.name": name, **labels}


def _node(name: str, change: Body) -> Body:
    labels: dict[str, str | None] = {LEAF: "leaf-1", SPINE: "s1", HOST: name, "zone": ZONES[name]}
    labels |= change.get("labels", {})
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "8"}
    status = {
        "allocatable": amounts | change.get("offers", {}),
        "conditions": [{"type": "Ready", "status": "True"}],
        "declaredFeatures": change.get("features", []),
    }
    known = {key: label for key, label in labels.items() if label is not None}
    return _body("v1", "Node", name, "", labels=known) | {
        "spec": change.get("spec", {}),
        "status": status,
    }


def _containers(requests: Body) -> Body:
    limits = {key: amount for key, amount in requests.items() if "/" in key}
    return {"containers": [{"name": "main", "resources": {"requests": requests, "limits": limits}}]}


def _running(number: int, one: Standing) -> Body:
    metadata: Body = {"labels": {"app": one.app}}
    if one.going:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    body = _body("v1", "Pod", f"r{number}", one.namespace, **metadata)
    spec = {**_containers({"cpu": one.cpu}), **one.spec, "nodeName": one.node}
    return body | {"spec": spec, "status": {"phase": "Running", **one.status}}


def picks(app: str, *apps: str) -> Body:
    """A selector of pods of one of these apps."""
    if not apps:
        return {"matchLabels": {"app": app}}
    return {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, *apps]}]}


def term(app: str, key: str = "zone", **more: Any) -> Body:
    """A term of affinity to pods of an app, or away from them."""
    return {"labelSelector": picks(app), "topologyKey": key, **more}


def near(*terms: Body) -> Body:
    """Required pod affinity."""
    return {"affinity": {"podAffinity": {REQUIRED: list(terms)}}}


def apart(*terms: Body) -> Body:
    """Required pod anti-affinity."""
    return {"affinity": {"podAntiAffinity": {REQUIRED: list(terms)}}}


def both(to: Body, away: Body) -> Body:
    """Required affinity and anti-affinity, of one term each."""
    affinity = {"podAffinity": {REQUIRED: [to]}, "podAntiAffinity": {REQUIRED: [away]}}
    return {"affinity": affinity}


def spread(key: str, skew: int = 1, app: str = "a", **more: Any) -> Body:
    """A constraint of spread."""
    found = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {**found, "labelSelector": picks(app), **more}


def spreading(*constraints: Body) -> Body:
    """Such constraints."""
    return {"topologySpreadConstraints": list(constraints)}


def on_nodes(*terms: Body) -> Body:
    """Required node affinity of terms, each of expressions."""
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def asks(key: str, operator: str, *values: str, fields: bool = False) -> Body:
    """A term of one expression."""
    one = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    return {"matchFields" if fields else "matchExpressions": [one]}


def count(**numbers: int) -> tuple[Standing, ...]:
    """So many pods of app `a` on each node."""
    return tuple(Standing(node) for node, number in numbers.items() for _ in range(number))
