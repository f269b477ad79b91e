"""Lists and watches say the same of a pod, though a live cluster writes them differently."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.model.devices.visibility import CUDA, ENTRY
from tests.k8s_bridge.cluster.contract.bench import Bench, target, watched

_TERM = {
    "topologyKey": "kubernetes.io/hostname",
    "namespaces": ["a", "b"],
    "labelSelector": {
        "matchLabels": {"app": "x", "empty": ""},
        "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["front", "back"]},
            {"key": "old", "operator": "DoesNotExist"},
        ],
    },
}
_NODE_TERM = {
    "matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["z1", ""]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
}
_SECRET = {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_RICH: dict[str, Any] = {
    "schedulerName": "topology-aware-scheduler",
    "terminationGracePeriodSeconds": 0,
    "activeDeadlineSeconds": 300,
    "hostNetwork": True,
    "hostUsers": True,
    "nodeSelector": {"pool": "gpu", "blank": ""},
    "restartPolicy": "Never",
    "volumes": [
        {"name": "claimed", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
        {"name": "scratch", "emptyDir": {}},
        {"name": "gce", "gcePersistentDisk": {"pdName": "disk", "readOnly": True}},
        {"name": "ebs", "awsElasticBlockStore": {"volumeID": "vol-1"}},
        {"name": "iscsi", "iscsi": {"targetPortal": "p:3260", "iqn": "iqn.2026-01.a:b", "lun": 0}},
        {"name": "rbd", "rbd": {"monitors": ["m"], "pool": "a", "image": "i", "readOnly": True}},
    ],
    "initContainers": [
        {
            "name": "sidecar",
            "image": "proxy",
            "restartPolicy": "Always",
            "restartPolicyRules": [
                {
                    "action": "RestartAllContainers",
                    "exitCodes": {"operator": "In", "values": [42]},
                }
            ],
            "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
        }
    ],
    "containers": [
        {
            "name": "main",
            "image": "train",
            "ports": [{"name": "web", "containerPort": 8080, "hostPort": 8080, "protocol": "UDP"}],
            "env": [ENTRY, {"name": "A", "value": "CUDA_VISIBLE_DEVICES"}, _SECRET],
            "resources": {
                "limits": {"nvidia.com/gpu": "8", "cpu": "1500m"},
                "requests": {"nvidia.com/gpu": "8", "cpu": "0.5"},
            },
        },
        {"name": "plain", "image": "train", "env": [{"name": CUDA, "value": "0"}]},
    ],
    "tolerations": [
        {"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"},
        {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
        {"key": "late", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -5},
    ],
    "topologySpreadConstraints": [
        {
            "maxSkew": 2,
            "minDomains": 3,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}},
            "matchLabelKeys": ["hash"],
            "nodeAffinityPolicy": "Ignore",
            "nodeTaintsPolicy": "Honor",
        }
    ],
    "affinity": {
        "nodeAffinity": {
            _REQUIRED: {"nodeSelectorTerms": [_NODE_TERM]},
            _PREFERRED: [{"weight": 7, "preference": _NODE_TERM}],
        },
        "podAffinity": {_PREFERRED: [{"weight": 100, "podAffinityTerm": _TERM}]},
        "podAntiAffinity": {_REQUIRED: [_TERM | {"namespaceSelector": {}}]},
    },
}
_CONDITION = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "No room; 9.5 GPUs für alle.",
    "lastTransitionTime": "2026-02-03T04:05:06Z",
}


async def _said_twice(bench: Bench, version: str) -> str:
    """Check that the next event has what a list has; the version after it."""
    (event,) = await watched(bench, PODS, version, 1)
    listing = await bench.cluster.list(PODS, bench.namespace)
    assert [event.object] == listing.items
    return str(event.object["metadata"]["resourceVersion"])


async def test_watches_say_what_lists_say(bench: Bench) -> None:
    """Each field of a pod that asks for much is the same in a list and in a watch."""
    version = (await bench.cluster.list(PODS, bench.namespace)).version
    metadata = {
        "name": "rich",
        "labels": {"app": "x", "blank": ""},
        "annotations": {"note": "n" * 300, "alloc.gpu.scheduling/devices": "0,1"},
        "finalizers": ["example.com/hold"],
        "ownerReferences": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": "j",
                "uid": "u-1",
                "controller": True,
                "blockOwnerDeletion": False,
            }
        ],
    }
    body = await bench.cluster.create(PODS, bench.namespace, {"metadata": metadata, "spec": _RICH})
    version = await _said_twice(bench, version)
    status = {"conditions": [_CONDITION], "nominatedNodeName": "n1", "reason": "Said"}
    await bench.cluster.patch(PODS, target(body), {"status": status}, "status")
    version = await _said_twice(bench, version)
    await bench.cluster.bind(Binding(target(body), "n1", {"alloc.gpu.scheduling/commit": "c"}))
    version = await _said_twice(bench, version)
    await bench.cluster.delete(PODS, target(body))
    await _said_twice(bench, version)


async def test_gates_and_claims_too(bench: Bench) -> None:
    """So are gates, claims and an overhead of nothing, and a pod that asks for nothing."""
    version = (await bench.cluster.list(PODS, bench.namespace)).version
    spec = {
        "containers": [{"name": "main", "image": "train"}],
        "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
    }
    await bench.cluster.create(PODS, bench.namespace, {"metadata": {"name": "held"}, "spec": spec})
    await _said_twice(bench, version)
    await bench.cluster.delete(PODS, Target(bench.namespace, "held"))
