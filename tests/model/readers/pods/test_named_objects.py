"""How much a pod that waits may name: disks, ports, resources, claims of devices and volumes."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.readers.gangs import read_gang
from fourleaf.model.readers.pods.node_constraints import REQUIRED
from fourleaf.model.readers.pods.preferences import PREFERRED
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers import claims as dra
from tests.model.readers.gangs.made import only
from tests.model.readers.made import Body, node, pod, reading
from tests.model.readers.pods import test_volumes as storage

DISKS = "disks that the pod itself names"


def disks(count: int) -> Body:
    """Make the part of a spec that names so many disks, of two sources."""
    sources = (("gcePersistentDisk", "pdName"), ("iscsi", "iqn"))
    named = [(f"v{i}", *sources[i % 2]) for i in range(count)]
    return {"volumes": [{"name": one, source: {key: one}} for one, source, key in named]}


def ports(count: int, on_host: bool = False) -> Body:
    """Make the part of a spec that asks for so many ports, half of them in init containers."""
    key = "containerPort" if on_host else "hostPort"
    some = [{"name": f"c{i}", "ports": [{key: i + 1}, {"name": "x"}]} for i in range(count)]
    return {"containers": some[::2], "initContainers": some[1::2], "hostNetwork": on_host}


def resources(count: int) -> Body:
    """Make the part of a spec that asks for so many resources, in requests and in limits."""
    amounts = [{f"example.com/{i}": "1"} for i in range(count)]
    asked = [{"requests": one, "limits": one} for one in amounts]
    return {"containers": [{"name": f"c{i}", "resources": one} for i, one in enumerate(asked)]}


def conditions(required: int, preferred: int, values: int = 1) -> Body:
    """Make the part of a spec that has so many conditions on nodes, each of so many values."""
    one = {"key": "a", "operator": "NotIn", "values": ["x"] * values}
    wanted = [{"weight": 1, "preference": {"matchFields": [one] * preferred}}]
    affinity = {
        REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [one] * required}]},
        PREFERRED: wanted,
    }
    return {"affinity": {"nodeAffinity": affinity}}


def selectors(count: int, more: int, values: int = 1) -> Body:
    """Make the part of a spec whose terms about pods have four selectors of so many entries each.

    And `more` in the last one, each expression of so many values.
    """
    one = {"key": "a", "operator": "NotIn", "values": ["x"] * values}
    term = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [one] * count}}
    labels = {"matchLabels": {f"l{i}": "" for i in range(count)}}
    preferred = {"weight": 1, "podAffinityTerm": {**term, "labelSelector": labels}}
    keys = {"labelSelector": {}, "matchLabelKeys": [f"k{i}" for i in range(count)]}
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    matches = [one] * (count + more)
    spread = {**constraint, "labelSelector": {"matchExpressions": matches}}
    affinity = {
        "podAntiAffinity": {REQUIRED: [term], PREFERRED: [preferred]},
        "podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {**term, **keys}}]},
    }
    return {"affinity": affinity, "topologySpreadConstraints": [spread]}


@pytest.mark.parametrize(
    ("most", "above", "what"),
    [
        (
            selectors(64, 0),
            selectors(64, 1),
            "spec, whose terms about other pods have more than 256 labels and expressions,",
        ),
        (
            selectors(1, 0, values=1_000),
            selectors(1, 0, values=1_001),
            "spec, whose terms about other pods have more than 2,000 values,",
        ),
        (
            conditions(90, 60),
            conditions(90, 61),
            "spec.affinity.nodeAffinity, with more than 150 conditions, required or preferred,",
        ),
        (
            conditions(1, 1, values=1_000),
            conditions(1, 1, values=1_001),
            "spec.affinity.nodeAffinity, with more than 2,000 values,",
        ),
        (disks(32), disks(33), f"spec.volumes, with more than 32 {DISKS},"),
        (ports(64), ports(65), "spec.containers[*].ports, with more than 64 ports of the node,"),
        (
            ports(64, on_host=True),
            ports(65, on_host=True),
            "spec.containers[*].ports, with more than 64 ports of the node,",
        ),
        (
            resources(64),
            resources(65),
            "spec.containers[*].resources, with more than 64 names of resources,",
        ),
    ],
)
def test_a_pod_that_names_too_much_is_held_by_name(most: Body, above: Body, what: str) -> None:
    """One more than there may be, and what to do about it; as many as there may be are read."""
    held = only(node(), pod(**above)).hold
    assert held is not None
    assert held.kind is ReasonKind.UNSUPPORTED
    assert held.detail == f"Pod ml/p: {what} cannot be honoured"
    assert held.unblock == ("Ask for fewer of them.",)
    assert only(node(), pod(**most)).hold is None


def test_disks_of_a_pod_that_runs_count_however_many_they_are() -> None:
    """It writes to 500 of them: one more pod that names the last of them has no room beside it."""
    stands = pod("old", 0, nodeName="n1", phase="Running", **disks(501))
    found = reading(node(), stands, pod("p", 0, **disks(1))).snapshot
    names = [name for name, left in found.free["n1"].extra if left == 0]
    assert len(names) == 501


def claims(count: int) -> list[Body]:
    """Make so many ResourceClaims."""
    return [dra.claim(f"c{i}") for i in range(count)]


def claiming(count: int, **spec: Any) -> Body:
    """Make a pod that names so many ResourceClaims."""
    return dra.claiming("p", *(f"c{i}" for i in range(count)), **spec)


def using(count: int) -> Body:
    """Make a pod of so many PersistentVolumeClaims, and 40 ConfigMaps that count for nothing."""
    named = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": "data"}} for i in range(count)
    ]
    others = [{"name": f"m{i}", "configMap": {"name": "m"}} for i in range(40)]
    return pod(volumes=[*others, *named])


def test_a_pod_that_names_more_claims_than_are_looked_up_is_held_by_name() -> None:
    """It names 33, none of which there is: it is told that they are too many, and nothing else.

    Of 32 each is looked up.
    """
    ground = (dra.DRA, dra.bare(), dra.device_class(), dra.published(*dra.gpus()))
    held = only(*ground, claiming(33)).hold
    assert held is not None
    what = "spec.resourceClaims, with more than 32 claims,"
    assert (held.kind, held.detail) == (
        ReasonKind.UNSUPPORTED,
        f"Pod ml/p: {what} cannot be honoured",
    )
    gang = only(*ground, *claims(32), claiming(32))
    assert gang.hold is None
    assert gang.roles[0].request.gpus == 32


def test_a_pod_that_names_more_volumes_than_are_looked_up_is_held_by_name() -> None:
    """It names 65 of which one does not wait for long; an ephemeral volume counts like a claim."""
    there = (node(), storage.claim(), storage.volume())
    above = using(64)
    above["spec"]["volumes"].append({"name": "own", "ephemeral": {}})
    held = only(*there, above).hold
    assert held is not None
    what = "spec.volumes, with more than 64 PersistentVolumeClaims,"
    assert (held.kind, held.detail) == (
        ReasonKind.UNSUPPORTED,
        f"Pod ml/p: {what} cannot be honoured",
    )
    assert only(*there, using(64)).hold is None


def test_volumes_are_not_looked_up_where_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a pod of 64 are, once each time that it is read."""
    asked: list[str] = []
    look = read_gang.volume_wants
    monkeypatch.setattr(
        read_gang, "volume_wants", lambda *given: asked.append(given[1]) or look(*given)
    )
    there = (node(), storage.claim(), storage.volume())
    only(*there, using(65))
    assert asked == []
    only(*there, using(64))
    assert asked == ["p"]


def test_claims_of_a_pod_that_runs_count_however_many_they_are() -> None:
    """It was bound by another scheduler with 40 of them."""
    ground = (dra.DRA, dra.bare(), dra.device_class(), dra.published(*dra.gpus(40)))
    there = [dra.holding(one, f"gpu-{i}") for i, one in enumerate(claims(40))]
    (runs,) = reading(*ground, *there, claiming(40, nodeName="n1")).snapshot.running
    assert runs.request.gpus == 40
    assert len(runs.resource_claims) == 40
