"""Valid objects of every kind that a tenant may write, a few of each at a time."""

from __future__ import annotations

from typing import Any

from fourleaf.model.crds.claim import CLAIM
from fourleaf.model.devices.held_devices import DEVICES
from tests.model.readers.claims import DRA, bare, claim, claiming, device_class, gpus, published
from tests.model.readers.gangs.made import NATIVE, OLD_LABEL, gang_policy, in_native
from tests.model.readers.gangs.test_dialects import DIALECTS
from tests.model.readers.gangs.test_owner_kinds import KUBEFLOW, replicas
from tests.model.readers.made import TEMPLATE, Body, config, group, job, node, owned, owner, pod
from tests.model.readers.topology.made import place, status, topology

HOST = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_PICKED = {
    "matchLabels": {"app": "a"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["x", "y"]}],
}
_TERM = {
    "topologyKey": HOST,
    "labelSelector": _PICKED,
    "namespaces": ["ml"],
    "namespaceSelector": {},
    "matchLabelKeys": ["app"],
}
_NODE_TERM = {
    "matchExpressions": [{"key": HOST, "operator": "NotIn", "values": ["n9"]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
}
AFFINITY = {
    "nodeAffinity": {
        _REQUIRED: {"nodeSelectorTerms": [_NODE_TERM]},
        _PREFERRED: [{"weight": 3, "preference": _NODE_TERM}],
    },
    "podAffinity": {_PREFERRED: [{"weight": 5, "podAffinityTerm": _TERM}]},
    "podAntiAffinity": {_REQUIRED: [_TERM], _PREFERRED: [{"weight": 5, "podAffinityTerm": _TERM}]},
}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": HOST,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": _PICKED,
    "minDomains": 1,
    "nodeTaintsPolicy": "Honor",
    "matchLabelKeys": ["app"],
}
WISHES = {
    "topology.scheduler/gang": "g",
    "topology.scheduler/gang-size": "2",
    "topology.scheduler/gpu-count": "16",
    "topology.scheduler/preferred-domain": "leaf-1",
    "topology.scheduler/network-bandwidth": "100Gb",
    "topology.scheduler/latency-sensitive": "true",
    "topology.scheduler/placement-strategy": "balanced",
    "topology.scheduler/topology-policy": "Preferred",
    "topology.scheduler/movable": "true",
    "topology.scheduler/move-cost": "3",
    "topology.scheduler/repair-policy": "Restart",
    "topology.scheduler/expected-duration": "2h30m",
}


def rich(name: str, **fields: Any) -> Body:
    """Make a pod with something in nearly every field."""
    body = pod(name, 8, {"app": "a"}, dict(WISHES), **fields)
    body["metadata"] |= {"uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
    port = {"name": "p", "hostPort": 80, "containerPort": 80, "protocol": "TCP"}
    asked = {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": "1"}}
    body["spec"]["containers"][0] |= {"ports": [port], "resources": asked}
    body["spec"] |= {
        "initContainers": [{"name": "i", "restartPolicy": "Always", "resources": asked}],
        "affinity": AFFINITY,
        "topologySpreadConstraints": [SPREAD],
        "nodeSelector": {HOST: "n1"},
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
        "overhead": {"cpu": "1"},
        "priority": 5,
        "priorityClassName": "high",
        "schedulingGates": [{"name": "x"}],
        "activeDeadlineSeconds": 60,
        "terminationGracePeriodSeconds": 30,
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    return body


def running(name: str, **fields: Any) -> Body:
    """Make a pod on a node, with devices that it was granted."""
    body = rich(name, nodeName="n1", **fields)
    body["metadata"]["annotations"] |= {DEVICES: "0,1", "alloc.gpu.scheduling/gpus": "2"}
    body["status"] = {
        "phase": "Running",
        "startTime": "2026-01-01T01:00:00Z",
        "conditions": [{"type": "Ready", "status": "True", "reason": "r", "message": "m"}],
        "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "1"}}],
    }
    return body


def gpu_claim(name: str = "c") -> Body:
    """Make a GpuClaim."""
    spec = {
        "devices": {"count": 2, "policy": "contiguous"},
        "selector": {"products": ["H100"], "minMemory": "40Gi"},
        "topology": {"mode": "Preferred"},
    }
    body = owner("GpuClaim", "gpu.scheduling/v1", name)
    return body | {"spec": spec}


NODES = [node("n1"), node("n2", "leaf-2")]
MAP = {"gpu-scheduling-map": "0=n1:0,1\n1=n2:2,3"}

WORLDS: dict[str, list[Body]] = {
    "pods": [*NODES, rich("a-0"), rich("a-1"), running("b-0")],
    "podgroups": [
        *NODES,
        in_native("a-0"),
        group("g", NATIVE, priorityClassName="high", **gang_policy(1)),
        pod("b-0", labels={"scheduling.x-k8s.io/pod-group": "h"}),
        pod("b-1", labels={OLD_LABEL: "h"}),
        group("h", "scheduling.x-k8s.io/v1alpha1", minMember=2),
        pod("c-0", annotations={"scheduling.k8s.io/group-name": "v"}),
        group(
            "v",
            "scheduling.volcano.sh/v1beta1",
            minMember=1,
            minTaskMember={"w": 1},
            priorityClassName="high",
            minResources={"nvidia.com/gpu": "8"},
        ),
        *DIALECTS["kueue"],
    ],
    "owners": [
        *NODES,
        job("j", parallelism=2, completions=2, suspend=False),
        owned(pod("k-0"), "Job", "k"),
        owner(
            "JobSet",
            "jobset.x-k8s.io/v1alpha2",
            "js",
            replicatedJobs=[
                {
                    "name": "w",
                    "replicas": 2,
                    "template": {"spec": {"parallelism": 2, "template": TEMPLATE}},
                }
            ],
        ),
        owner(
            "LeaderWorkerSet",
            "leaderworkerset.x-k8s.io/v1",
            "l",
            replicas=2,
            leaderWorkerTemplate={"size": 2, "workerTemplate": TEMPLATE},
        ),
        owner(
            "RayCluster",
            "ray.io/v1",
            "r",
            headGroupSpec={"template": TEMPLATE},
            workerGroupSpecs=[{"groupName": "w", "replicas": 2, "template": TEMPLATE}],
        ),
        owner("StatefulSet", "apps/v1", "s", replicas=2, template=TEMPLATE),
        owner("Deployment", "apps/v1", "d", replicas=2, template=TEMPLATE),
    ],
    "described owners": [
        *NODES,
        *(
            owner(kind, "kubeflow.org/v1", kind.lower(), **{key: replicas(Master=1, Worker=2)})
            for kind, key in KUBEFLOW.items()
        ),
        owner(
            "MPIJob",
            "kubeflow.org/v2beta1",
            "m",
            mpiReplicaSpecs=replicas(Worker=2, Launcher=1),
            runPolicy={"suspend": False, "schedulingPolicy": {"minAvailable": 2}},
            launcherCreationPolicy="AtStartup",
        ),
        owner(
            "SparkApplication",
            "sparkoperator.k8s.io/v1beta2",
            "x",
            driver={},
            executor={"instances": 2},
        ),
        owned(pod("x-w"), "PyTorchJob", "pytorchjob", "kubeflow.org/v1"),
    ],
    "claims": [
        DRA,
        bare(),
        published(*gpus(2)),
        device_class(),
        claim(
            selectors=[
                {
                    "cel": {
                        "expression": "device.driver == 'gpu.nvidia.com' && "
                        "device.attributes['gpu.nvidia.com'].type == 'gpu' && "
                        "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"
                    }
                }
            ]
        ),
        claiming("p", "c"),
    ],
    "device maps": [
        *NODES,
        gpu_claim(),
        pod("m-0", 2, annotations=MAP),
        pod("m-1", 2, annotations=MAP),
        pod("x-a", 2, annotations={CLAIM: "c"}),
        owned(pod("s-0", 2), "StatefulSet", "s", "apps/v1"),
        owner("StatefulSet", "apps/v1", "s", replicas=2, template=TEMPLATE)
        | {"metadata": {"name": "s", "namespace": "ml", "annotations": MAP}},
    ],
    "inventories": [
        *NODES,
        config(
            devices={"mode": "count"},
            strategies={"thirds": {"factors": {"topologyAlignment": "2"}, "mostPerNode": "0.3"}},
            defaultStrategies={"others": "thirds"},
        ),
        status("n1", topology("leaf-1", **place("oci", "lb1", "nb", "hpc")), 7),
        status("n2", topology("leaf-1", "leaf-2"), 7),
    ],
    "volumes": [
        *NODES,
        rich("v-0"),
        running("v-1"),
        owner(
            "PersistentVolumeClaim",
            "v1",
            "data",
            volumeName="pv",
            storageClassName="fast",
            accessModes=["ReadWriteOncePod"],
            resources={"requests": {"storage": "1Gi"}},
        ),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "fast"},
            "provisioner": "disk.example.org",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b", "namespace": "ml"},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "a"}}},
            "status": {"disruptionsAllowed": 0},
        },
    ],
}
"""Name -> objects of one cluster."""
