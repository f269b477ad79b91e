"""A made-up cluster whose objects carry what the API server keeps of real ones.

`kubectl get` leaves `managedFields` out unless asked for them; so does `without_managers`.
"""

from __future__ import annotations

from typing import Any

from fourleaf.model.devices.visibility import TOLD

Body = dict[str, Any]

NODES_PER_LEAF = 4
LEAVES_PER_SPINE = 8
CREATED = "2026-01-05T08:00:00Z"
SUBMITTED = "2026-01-05T09:30:00Z"


def _managed(manager: str, fields: Body) -> Body:
    return {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "manager": manager,
        "operation": "Update",
        "time": CREATED,
    }


def node(number: int) -> Body:
    """One node of 8 GPUs, with labels, images, conditions and managed fields."""
    name = f"gpu-{number}"
    leaf = number // NODES_PER_LEAF
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "gpu-8x",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": "H100-SXM",
        "topology.scheduler/leaf": f"leaf-{leaf}",
        "topology.scheduler/spine": f"spine-{leaf // LEAVES_PER_SPINE}",
    }
    labels |= {f"feature.node.kubernetes.io/cpu-cpuid.F{i}": "true" for i in range(40)}
    amounts = {
        "cpu": "192",
        "ephemeral-storage": "3500000000Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "2113400832Ki",
        "nvidia.com/gpu": "8",
        "pods": "110",
    }
    kinds = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "creationTimestamp": CREATED,
            "labels": labels,
            "managedFields": [
                _managed("kubelet", {"f:metadata": {"f:labels": {f"f:{k}": {} for k in labels}}})
            ],
            "name": name,
            "resourceVersion": str(1000 + number),
            "uid": f"00000000-0000-4000-8000-{number:012d}",
        },
        "spec": {"podCIDR": f"10.{number // 250}.{number % 250}.0/24", "providerID": f"x://{name}"},
        "status": {
            "addresses": [{"address": f"10.200.0.{number % 250}", "type": "InternalIP"}],
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [
                {
                    "lastHeartbeatTime": SUBMITTED,
                    "lastTransitionTime": CREATED,
                    "message": "kubelet reports " + kind,
                    "reason": "Kubelet" + kind,
                    "status": "True" if kind == "Ready" else "False",
                    "type": kind,
                }
                for kind in kinds
            ],
            "images": [
                {"names": [f"registry.example/training@sha256:{i:064d}"], "sizeBytes": 10**9 + i}
                for i in range(20)
            ],
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.36.3"},
        },
    }


def pod(name: str, gpus: int, node_name: str, job: str, index: int, scheduler: str) -> Body:
    """One pod of a Job, with what the API server, kubelet and controllers add to it."""
    resources: Body = {
        "limits": {"cpu": "8", "memory": "64Gi"},
        "requests": {"cpu": "4", "memory": "32Gi"},
    }
    if gpus:
        resources["limits"]["nvidia.com/gpu"] = str(gpus)
        resources["requests"]["nvidia.com/gpu"] = str(gpus)
    container: Body = {
        "command": ["bash", "-c", "torchrun --nnodes $N train.py --config /etc/train.yaml"],
        "env": [*TOLD, *({"name": f"SETTING_{i}", "value": f"value-{i}"} for i in range(12))],
        "image": "registry.example/training:1.4",
        "imagePullPolicy": "IfNotPresent",
        "name": "train",
        "ports": [{"containerPort": 29500, "protocol": "TCP"}],
        "resources": resources,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {"mountPath": "/data", "name": "data"},
            {
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "name": "token",
                "readOnly": True,
            },
        ],
    }
    labels = {
        "app": "training",
        "batch.kubernetes.io/controller-uid": f"10000000-0000-4000-8000-{index:012d}",
        "batch.kubernetes.io/job-completion-index": str(index),
        "batch.kubernetes.io/job-name": job,
        "job-name": job,
    }
    spec: Body = {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "priority": 0,
        "restartPolicy": "Never",
        "schedulerName": scheduler,
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [
            {
                "effect": "NoExecute",
                "key": f"node.kubernetes.io/{key}",
                "operator": "Exists",
                "tolerationSeconds": 300,
            }
            for key in ("not-ready", "unreachable")
        ],
        "volumes": [
            {"hostPath": {"path": "/data", "type": ""}, "name": "data"},
            {
                "name": "token",
                "projected": {
                    "defaultMode": 420,
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {"configMap": {"name": "kube-root-ca.crt"}},
                    ],
                },
            },
        ],
    }
    status: Body = {"phase": "Pending", "qosClass": "Burstable"}
    if node_name:
        spec["nodeName"] = node_name
        status = {
            "conditions": [
                {"lastTransitionTime": SUBMITTED, "status": "True", "type": kind}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [
                {
                    "containerID": f"containerd://{index:064d}",
                    "image": "registry.example/training:1.4",
                    "name": "train",
                    "ready": True,
                    "restartCount": 0,
                    "started": True,
                    "state": {"running": {"startedAt": SUBMITTED}},
                }
            ],
            "hostIP": "10.200.0.1",
            "phase": "Running",
            "podIP": "10.1.2.3",
            "qosClass": "Burstable",
            "startTime": SUBMITTED,
        }
    fields = {
        "f:metadata": {"f:labels": {".": {}, **{f"f:{key}": {} for key in labels}}},
        "f:spec": {
            "f:containers": {'k:{"name":"train"}': {f"f:{key}": {} for key in container}},
            **{f"f:{key}": {} for key in spec},
        },
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
            "creationTimestamp": SUBMITTED,
            "generateName": f"{job}-{index}-",
            "labels": labels,
            "managedFields": [_managed("kube-controller-manager", fields)],
            "name": name,
            "namespace": "ml",
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "blockOwnerDeletion": True,
                    "controller": True,
                    "kind": "Job",
                    "name": job,
                    "uid": f"10000000-0000-4000-8000-{index:012d}",
                }
            ],
            "resourceVersion": "123456",
            "uid": f"20000000-0000-4000-8000-{index:012d}",
        },
        "spec": spec,
        "status": status,
    }


def cluster(nodes: int, running: int, waiting: int) -> Body:
    """A List of `nodes` nodes, half of them full, `running` pods and `waiting` gangs of 1 to 8."""
    items = [node(i) for i in range(nodes)]
    for i in range(running):
        job, index = f"run-{i // 4}", i % 4
        gpus = 1 if i < nodes * 4 else 0
        host = f"gpu-{i // 8 if gpus else i % nodes}"
        items.append(pod(f"{job}-{index}-abcde", gpus, host, job, index, "gpu-scheduler"))
    for i in range(waiting):
        job = f"wait-{i}"
        items.extend(
            pod(f"{job}-{index}-abcde", 8, "", job, index, "gpu-scheduler")
            for index in range(1 << i % 4)
        )
    return {"apiVersion": "v1", "kind": "List", "items": items, "metadata": {}}


def without_managers(body: Body) -> Body:
    """The same List as `kubectl get` prints it."""
    for item in body["items"]:
        item["metadata"].pop("managedFields", None)
    return body
