"""Slim objects hold all that is read and nothing that is not."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest

from benchmarks.read.cluster import cluster, node, pod
from fourleaf.k8s_bridge.cluster import slim as slim_objects
from fourleaf.k8s_bridge.cluster.entry_limit import MOST_ENTRIES, TOO_LARGE
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    GPU_CLAIMS,
    JOBS,
    LEADER_WORKER_SETS,
    NODES,
    PODS,
    RAY_CLUSTERS,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    VOLCANO_POD_GROUPS,
    VOLUME_CLAIMS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.slim import (
    LAST_APPLIED,
    MOST_LEVELS,
    event_of,
    object_of,
    page_of,
)
from fourleaf.model.devices.visibility import CUDA, ENTRY, TOLD, untold
from fourleaf.model.readers import InputReading, Source, read
from tests.model.readers import made as objects

Body = dict[str, Any]
OURS = "topology-aware-scheduler"


def _slim(kind: Kind, body: Body) -> Body:
    return object_of(kind, orjson.dumps(body))


def _reading(items: list[Body]) -> InputReading:
    return read([Source("in.json", orjson.dumps(items))], strict=False)


def _all_slim(items: list[Body]) -> list[Body]:
    kinds = {"Pod": PODS, "Node": NODES, "Job": JOBS}
    found = []
    for item in items:
        kind = kinds[item["kind"]]
        found.append(
            {"apiVersion": kind.api_version, "kind": kind.name, **_slim(kind, copy.deepcopy(item))}
        )
    return found


def test_the_readers_see_the_same_cluster() -> None:
    """A cluster of full objects and the same cluster made slim read alike."""
    items = cluster(nodes=32, running=60, waiting=12)["items"]
    whole = _reading(items)
    assert whole.snapshot.gangs
    assert whole.snapshot.running
    slim = _reading(_all_slim(items))
    assert slim.snapshot == whole.snapshot
    assert slim.problems == whole.problems


GPUS = {"limits": {"nvidia.com/gpu": "8"}}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
            ]
        }
    },
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
        ]
    },
}


@pytest.mark.parametrize(
    "spec",
    [
        {"affinity": AFFINITY},
        {"nodeSelector": {"zone": "a"}},
        {"tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]},
        {"overhead": {"cpu": "1"}},
        {"resources": {"requests": {"cpu": "3"}}},
        {
            "initContainers": [
                {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "2"}}}
            ]
        },
        {
            "hostNetwork": True,
            "containers": [{"name": "c", "ports": [{"containerPort": 80}], "resources": GPUS}],
        },
        {"hostUsers": False, "hostNetwork": True},
        {
            "containers": [
                {
                    "name": "c",
                    "resources": GPUS,
                    "restartPolicyRules": [{"action": "RestartAllContainers"}],
                }
            ]
        },
        {"schedulingGates": [{"name": "g"}]},
        {"schedulingGroup": {"podGroupName": "group"}},
        {"priority": 7, "priorityClassName": "high"},
        {"resourceClaims": [{"name": "c"}]},
        {
            "topologySpreadConstraints": [
                {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
            ]
        },
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]},
        {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]},
        {
            "containers": [
                {
                    "name": "c",
                    "ports": [{"hostPort": 80, "containerPort": 80, "protocol": "UDP"}],
                    "resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"cpu": "1"}},
                }
            ]
        },
    ],
    ids=lambda spec: next(iter(spec)),
)
def test_every_field_that_counts_is_kept(spec: Body) -> None:
    """A pod reads alike with each field that decides about it, slim or whole."""
    items = [objects.node(), objects.pod(**spec)]
    whole, slim = _reading(items), _reading(_all_slim(items))
    assert slim.snapshot == whole.snapshot
    assert slim.problems == whole.problems
    without = dict(list(spec.items())[1:])
    plain = _reading([objects.node(), objects.pod(**without)])
    assert (whole.snapshot, whole.problems) != (plain.snapshot, plain.problems)


@pytest.mark.parametrize("told", [("4", "1"), ("1", "4"), ("1", None), ("1", "1")])
def test_a_resize_that_is_not_made_yet_is_kept(told: tuple[str, str | None]) -> None:
    """What a container still holds is there to read, though no condition speaks of a resize.

    Where it holds what the spec asks for, the statuses take no memory.
    """
    allocated, in_force = told
    body = objects.pod("p", None, nodeName="n1", phase="Running")
    body["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    status: Body = {"name": "c", "allocatedResources": {"cpu": allocated}}
    if in_force is not None:
        status["resources"] = {"requests": {"cpu": in_force}}
    body["status"]["containerStatuses"] = [status]
    whole, slim = _reading([objects.node("n1"), body]), _all_slim([body])
    assert _reading([objects.node("n1"), *slim]).snapshot.used == whole.snapshot.used
    assert ("containerStatuses" in slim[0]["status"]) is ("4" in told)


def test_what_nobody_reads_goes() -> None:
    """Of a full pod less than a quarter is left, and nothing by which it runs."""
    body = pod("p", 8, "n1", "job", 0, OURS)
    body["metadata"]["annotations"][LAST_APPLIED] = "x" * 4000
    whole = orjson.dumps(body)
    slim = object_of(PODS, whole)
    assert len(orjson.dumps(slim)) * 4 < len(whole)
    (container,) = slim["spec"]["containers"]
    assert set(container) == {"name", "resources", "ports", "env"}
    assert container["env"] == [ENTRY]
    assert "volumes" not in slim["spec"]
    assert "containerStatuses" not in slim["status"]
    assert "managedFields" not in slim["metadata"]
    assert LAST_APPLIED not in slim["metadata"]["annotations"]
    assert {c["type"] for c in slim["status"]["conditions"]} >= {"Ready", "PodScheduled"}


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ([*TOLD, {"name": "A", "value": "x" * 999}], True),
        ([{"name": "A", "value": "x"}], False),
        ([{"name": CUDA, "value": "0,1"}], False),
        ([ENTRY, {"name": CUDA, "value": "0,1"}], False),
        ([{"name": CUDA, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}], False),
        ([{"name": CUDA, "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}], False),
        ([{"name": "A", "valueFrom": ENTRY["valueFrom"]}], False),
        (None, False),
    ],
)
def test_of_the_environment_only_the_devices_are_kept(env: list[Body] | None, told: bool) -> None:
    """One variable, the same for all pods that the webhook has seen, and only where it counts."""
    body = objects.pod()
    body["spec"]["initContainers"] = [{"name": "first", "env": [ENTRY]}]
    body["spec"]["containers"][0]["env"] = env
    kept = _slim(PODS, copy.deepcopy(body))["spec"]
    assert kept["initContainers"] == [{"name": "first", "env": [ENTRY]}]
    (container,) = kept["containers"]
    assert container.get("env") == ([ENTRY] if told else None)
    assert untold(kept) == untold(body["spec"]) == ("" if told else "main")


def test_constraints_that_are_too_long_are_not_kept() -> None:
    """Of a pod with 750 KB of node affinity a few hundred bytes stay, which say what is missing."""
    values = [f"node-{i}" for i in range(70_000)]
    terms = [{"matchExpressions": [{"key": "host", "operator": "In", "values": values}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    body = objects.pod(affinity={"nodeAffinity": required}, tolerations=[{"key": "a"}])
    kept = _slim(PODS, copy.deepcopy(body))
    assert len(orjson.dumps(body)) > 750_000
    assert len(orjson.dumps(kept)) < 1_000
    nodes = [objects.node()]
    held = [one.snapshot.gangs[0].hold for one in (_reading([*nodes, body]), _reading_of(kept))]
    assert held[0] == held[1] is not None


def test_a_pod_on_its_node_keeps_all_of_them() -> None:
    """Another scheduler has bound it: what it repels has to stay away, however long its terms."""
    values = [f"app-{i}" for i in range(7_000)]
    picked = {"matchExpressions": [{"key": "app", "operator": "In", "values": values}]}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": picked}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    standing = objects.pod("elsewhere", affinity=apart, nodeName="n1", schedulerName="other")
    kept = _slim(PODS, copy.deepcopy(standing))
    assert kept["spec"]["affinity"] == apart
    labelled = objects.pod("ours", labels={"app": "app-7"})
    (gang,) = _reading(
        [objects.node(), kept | {"apiVersion": "v1", "kind": "Pod"}, labelled]
    ).snapshot.gangs
    assert any(
        "n1" in one.values
        for role in gang.roles
        for term in role.constraint.affinity
        for one in term
    )


def _reading_of(kept: Body) -> InputReading:
    return _reading([objects.node(), {"apiVersion": "v1", "kind": "Pod", **kept}])


def test_nodes() -> None:
    """A node keeps labels, amounts, addresses, boot, conditions without heartbeats; no images."""
    body = node(0)
    slim = _slim(NODES, copy.deepcopy(body))
    assert slim["metadata"]["labels"] == body["metadata"]["labels"]
    kept = {"addresses", "allocatable", "capacity", "conditions", "nodeInfo"}
    assert set(slim["status"]) == kept
    assert set(slim["status"]["nodeInfo"]) <= {"bootID"}
    assert all("lastHeartbeatTime" not in one for one in slim["status"]["conditions"])


def test_templates_of_owners() -> None:
    """Pod specs are made slim wherever in an owner they are; the rest stays as it is."""
    container = {"name": "c", "env": [{"name": "A"}], "resources": {"limits": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    kept = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}
    kept["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    spec = {"leaderWorkerTemplate": {"size": 4, "workerTemplate": template}}
    slim = _slim(LEADER_WORKER_SETS, {"metadata": {"name": "x"}, "spec": spec})
    assert slim["spec"] == {"leaderWorkerTemplate": {"size": 4, "workerTemplate": kept}}
    job = {"metadata": {"name": "j"}, "spec": {"parallelism": 2, "template": template}}
    slim = _slim(JOBS, job | {"status": {"succeeded": 1}})
    assert slim["spec"] == {"parallelism": 2, "template": kept}
    assert slim["status"] == {"succeeded": 1}


def test_other_kinds_stay_whole() -> None:
    """What is written back whole is read whole: only managedFields and the kind go."""
    metadata = {"name": "m", "annotations": {LAST_APPLIED: "{}"}, "managedFields": [{}]}
    slim = _slim(CONFIG_MAPS, {"apiVersion": "v1", "metadata": metadata, "data": {"a": "b"}})
    kept = {"name": "m", "annotations": {LAST_APPLIED: "{}"}}
    assert slim == {"metadata": kept, "data": {"a": "b"}}


def test_equal_parts_are_one_object() -> None:
    """Pods of one job share what they have in common."""
    first, second = (_slim(PODS, pod(f"p-{i}", 8, "n1", "job", 0, OURS)) for i in range(2))
    for part in ("containers", "tolerations"):
        assert first["spec"][part] is second["spec"][part]
    assert first["metadata"]["labels"] is not second["metadata"]["labels"]


def test_nulls() -> None:
    """Nulls where the API allows them are read as they are."""
    body = {"metadata": {"name": "p", "creationTimestamp": None}, "spec": {"containers": None}}
    body["status"] = {"conditions": None}
    assert _slim(PODS, body)["spec"] == {"containers": None}
    assert page_of(PODS, b'{"metadata":{"resourceVersion":"5"},"items":null}').items == []


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'"x"', b'{"metadata":[]}'])
@pytest.mark.parametrize("kind", [PODS, CONFIG_MAPS], ids=str)
def test_what_is_no_object(kind: Kind, content: bytes) -> None:
    """What is no list of objects is an error of the cluster or an empty page, never a crash."""
    if content == b'{"metadata":[]}':
        assert page_of(kind, content).items == []
        return
    with pytest.raises(ClusterError):
        page_of(kind, content)
    with pytest.raises(ClusterError):
        event_of(kind, content)


def test_slices() -> None:
    """Devices say what they said; values that are alike are one object, whatever their names."""
    devices = [
        {
            "name": f"gpu-{i}",
            "attributes": {"uuid": {"string": f"GPU-{i}"}, "productName": {"string": "H100"}},
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for i in range(2)
    ]
    slim = _slim(RESOURCE_SLICES, {"spec": {"devices": copy.deepcopy(devices)}})
    first, second = slim["spec"]["devices"]
    assert [first, second] == devices
    assert first["attributes"]["productName"] is second["attributes"]["productName"]
    assert first["capacity"] is second["capacity"]
    assert _slim(RESOURCE_SLICES, {"spec": {"devices": "none"}})["spec"]["devices"] == "none"


def _nested(levels: int, text: str = "1") -> str:
    return '{"a":' * levels + text + "}" * levels


@pytest.mark.parametrize("levels", [10, 300, 600, 1020, 1500, 9000])
def test_an_owner_of_any_depth_keeps_no_other_from_being_read(levels: int) -> None:
    """What a tenant nests deep is cut off; the object beside it is whole, in lists and events."""
    deep = '{"metadata":{"name":"deep"},"spec":{"x":' + _nested(levels) + "}}"
    fine = '{"metadata":{"name":"fine"},"spec":{"x":["}]\\"{",{"y":1}]}}'
    page = '{"metadata":{"resourceVersion":"5"},"items":[' + f"{deep},{fine}]}}"
    (first, second) = page_of(RAY_CLUSTERS, page.encode()).items
    assert second["spec"] == {"x": ['}]"{', {"y": 1}]}
    value, depth = first["spec"], 0
    while isinstance(value, dict):
        value, depth = next(iter(value.values())), depth + 1
    assert depth == min(levels + 1, MOST_LEVELS)
    assert first["spec"] == page_of(RAY_CLUSTERS, page.encode()).items[0]["spec"]
    event = event_of(RAY_CLUSTERS, ('{"type":"ADDED","object":' + deep + "}").encode())
    assert event.object["metadata"]["name"] == "deep"


def test_nonsense_of_any_depth_is_refused() -> None:
    """Nothing is made of what is no JSON."""
    for text in ("{" * 2000, "]" * 2000, _nested(2000) + "}"):
        with pytest.raises(ClusterError):
            page_of(RAY_CLUSTERS, text.encode())


@pytest.mark.parametrize("levels", [300, 985, 1100])
def test_a_claim_of_any_depth_can_be_compared(levels: int) -> None:
    """Parameters of a driver are whatever a tenant writes there; two readings are alike."""
    text = (
        '{"metadata":{"name":"c"},"spec":{"devices":{"config":'
        + "[" * levels
        + "]" * levels
        + "}}}"
    )
    one, other = (object_of(RESOURCE_CLAIMS, text.encode()) for _ in range(2))
    assert one == other
    assert one["metadata"] == {"name": "c"}


@pytest.mark.parametrize(
    ("kind", "path", "much"),
    [
        (VOLCANO_POD_GROUPS, ("spec", "x"), [{} for _ in range(70_000)]),
        (VOLCANO_POD_GROUPS, ("status", "x"), [[[]] for _ in range(45_000)]),
        (RESOURCE_CLAIMS, ("metadata", "labels"), {f"k{i}": "" for i in range(50_000)}),
        (VOLUME_CLAIMS, ("metadata", "annotations"), {f"k{i}": "" for i in range(50_000)}),
        (JOBS, ("metadata", "ownerReferences"), [{"kind": "x", "name": "y"} for _ in range(5_000)]),
        (DISRUPTION_BUDGETS, ("spec", "selector"), {"x": [{"key": str(i)} for i in range(50_000)]}),
        (JOBS, ("spec", "template"), {"x": {f"k{i}": [] for i in range(50_000)}}),
        (GPU_CLAIMS, ("spec", "devices"), [[i] for i in range(50_000)]),
    ],
)
def test_an_object_of_very_many_parts_is_kept_in_part(
    kind: Kind, path: tuple[str, str], much: Any
) -> None:
    """Of tens of thousands of entries at most ten thousand; what is short beside them stays."""
    body: Body = {"metadata": {"name": "o", "uid": "u"}, "spec": {"minMember": 2}, "status": {}}
    body[path[0]][path[1]] = much
    slim = _slim(kind, body)
    assert entries(slim) <= MOST_ENTRIES + 20
    assert path[0] != "metadata" or slim[path[0]][path[1]] is None
    assert (slim["metadata"]["name"], slim["spec"]["minMember"]) == ("o", 2)


def test_nothing_is_made_of_what_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A RayCluster of 2,000 groups of templates: templates are made of what is kept alone."""
    made: list[int] = []
    was = slim_objects._templates

    def counted(value: Any, levels: int) -> Any:
        made.append(1)
        return was(value, levels)

    monkeypatch.setattr(slim_objects, "_templates", counted)
    group = {"template": {"spec": {"containers": [{"name": "c", "image": "i"}] * 4}}}
    _slim(RAY_CLUSTERS, {"metadata": {"name": "r"}, "spec": {"workerGroupSpecs": [group] * 2_000}})
    assert 0 < len(made) <= 2 * MOST_ENTRIES


def test_what_is_never_read_makes_no_object_too_large() -> None:
    """4,000 variables of a Job take 12,000 entries, and managedFields as many: all else is kept."""
    env = [{"name": f"k{i}", "value": "v"} for i in range(4_000)]
    asked = {"limits": {"nvidia.com/gpu": "8"}}
    spec = {"containers": [{"name": "c", "env": env, "resources": asked}]}
    managed = [{"fieldsV1": {f"f:{i}": {} for i in range(12_000)}}]
    body: Body = {
        "metadata": {"name": "j", "managedFields": managed},
        "spec": {"template": {"spec": spec}},
    }
    slim = _slim(JOBS, body)
    assert TOO_LARGE not in str(slim)
    assert slim["spec"]["template"]["spec"]["containers"] == [{"name": "c", "resources": asked}]


def test_what_is_not_kept_of_one_object_is_kept_of_others() -> None:
    """Parts that two Jobs share are whole in the one that is not too large."""
    tolerations = [{"key": f"k{i}", "operator": "Exists"} for i in range(50)]
    spec = {"containers": [{"name": "c"}], "tolerations": tolerations}
    small: Body = {"metadata": {"name": "s"}, "spec": {"template": {"spec": spec}}}
    kept = _slim(JOBS, small)
    large: Body = {"metadata": {"name": "l"}, "spec": {**small["spec"], "x": [[]] * 9_950}}
    assert TOO_LARGE in str(_slim(JOBS, large))
    assert kept["spec"]["template"]["spec"]["tolerations"] == tolerations


def entries(value: Any) -> int:
    """How many entries all lists and objects in `value` have."""
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return len(value) + sum(map(entries, inner))


def test_a_group_that_is_too_large_holds_its_pods() -> None:
    """Its size may be among what is not kept, so none of its pods starts, and it is told."""
    much = {"minMember": 2} | {f"k{i}": i for i in range(50_000)}
    group = objects.group("g", "scheduling.volcano.sh/v1beta1")
    said = {"scheduling.k8s.io/group-name": "g"}
    members = [objects.pod(name, 1, annotations=said) for name in "ab"]
    slim = {**group, "spec": _slim(VOLCANO_POD_GROUPS, {**group, "spec": much})["spec"]}
    found = _reading([objects.node(), slim, *members])
    assert all(gang.hold is not None for gang in found.snapshot.gangs)
    assert any(TOO_LARGE in str(problem) for problem in found.problems)
