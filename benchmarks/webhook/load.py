"""A pod as training jobs have them, and the reviews of it that the API server sends."""

from __future__ import annotations

from typing import Any

import orjson

Body = dict[str, Any]

SOURCE = "metadata.annotations['alloc.gpu.scheduling/devices']"
TOLD = [
    {
        "name": "CUDA_VISIBLE_DEVICES",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": SOURCE}},
    },
    {"name": "CUDA_DEVICE_ORDER", "value": "PCI_BUS_ID"},
]
OURS = "gpu-scheduler"
GANG = {
    "topology.scheduler/gang": "train",
    "topology.scheduler/gang-size": "16",
    "topology.scheduler/placement-strategy": "consolidated",
}
VARIABLES = [{"name": f"NCCL_SETTING_{i}", "value": f"value-{i}"} for i in range(24)]
"""About as many as launchers of training jobs set."""


def pod(name: str, *, told: bool, scheduler: str = OURS) -> Body:
    """A pod of some KiB with eight GPUs, a sidecar and an init container; of a gang where ours."""
    env = (TOLD if told else []) + VARIABLES
    mounts = [{"name": f"v{i}", "mountPath": f"/data/{i}"} for i in range(4)]
    main = {
        "name": "train",
        "image": "train:1",
        "command": ["torchrun", "--nnodes=16", "train.py"],
        "env": env,
        "volumeMounts": mounts,
        "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "64", "memory": "512Gi"}},
    }
    init = {"name": "fetch", "image": "fetch:1", "env": TOLD if told else []}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "labels": {"app": "train", "team": "ml"},
            "annotations": GANG if scheduler == OURS else {},
        },
        "spec": {
            "schedulerName": scheduler,
            "containers": [main, {**init, "name": "log"}],
            "initContainers": [init],
            "volumes": [{"name": f"v{i}", "emptyDir": {}} for i in range(4)],
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "restartPolicy": "Never",
        },
    }


def review(body: Body) -> bytes:
    """The review of its creation."""
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": "ml",
        "name": body["metadata"]["name"],
        "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:kube-system:job-controller"},
        "object": body,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    whole = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return orjson.dumps(whole)
