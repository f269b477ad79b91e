"""Writes `fabric-64.yaml` and `running.yaml`: 64 nodes of 8 GPUs, 16 leaves of 4, 2 spines.

The objects are what `kubectl get nodes,pods -o yaml` prints, cut down to what a scheduler
reads. Run it as `python examples/make_fabric.py` after a change here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

LEAVES, NODES_PER_LEAF, LEAVES_PER_SPINE = 16, 4, 8
CORDONED = {26}
"""Node that a technician is looking at."""
NOT_READY = {53}
"""Node that has stopped answering."""

RUNNING: list[tuple[str, str, list[int], int]] = [
    ("ml", "bert-large", [16, 17, 18, 19], 8),
    ("ml", "clip-vit", [36, 37], 8),
    ("speech", "conformer", [42, 43], 8),
    ("vision", "sam-finetune", [9], 8),
    ("serving", "embedder", [24, 24, 61], 2),
    ("research", "ablation", [62], 4),
]
"""Namespace, name, the node of each pod, GPUs per pod."""


def node(number: int) -> dict[str, Any]:
    """The manifest of one GPU node."""
    leaf, spine = number // NODES_PER_LEAF, number // NODES_PER_LEAF // LEAVES_PER_SPINE
    name = f"gpu-{number:02d}"
    ready = "Unknown" if number in NOT_READY else "True"
    amounts = {
        "cpu": "192",
        "memory": "2113422620Ki",
        "pods": "110",
        "nvidia.com/gpu": "8",
        "rdma/hca": "8",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "node.kubernetes.io/instance-type": "h100-8x",
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                "fabric.topograph.run/tier-1": f"spine-{spine}",
                "fabric.topograph.run/tier-0": f"leaf-{leaf:02d}",
                "topology.scheduler/network-bandwidth": "400Gb",
            },
        },
        "spec": {"unschedulable": True} if number in CORDONED else {},
        "status": {
            "allocatable": amounts,
            "capacity": dict(amounts),
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def pod(namespace: str, gang: str, rank: int, size: int, host: int, gpus: int) -> dict[str, Any]:
    """The manifest of one running pod: a member of an annotated gang, with a controller."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": namespace,
            "name": f"{gang}-{rank}",
            "creationTimestamp": "2025-11-20T18:00:00Z",
            "annotations": {
                "topology.scheduler/gang": gang,
                "topology.scheduler/gang-size": str(size),
            },
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": gang, "controller": True}
            ],
        },
        "spec": {
            "schedulerName": "topology-aware-scheduler",
            "nodeName": f"gpu-{host:02d}",
            "containers": [
                {
                    "name": "worker",
                    "resources": {
                        "requests": {"cpu": str(12 * gpus), "memory": f"{128 * gpus}Gi"},
                        "limits": {"nvidia.com/gpu": str(gpus)},
                    },
                }
            ],
        },
        "status": {"phase": "Running"},
    }


def write(name: str, what: str, items: list[dict[str, Any]]) -> None:
    """Write `items` as a Kubernetes List beside this script, with a comment on top."""
    text = yaml.safe_dump(
        {"apiVersion": "v1", "kind": "List", "items": items},
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    Path(__file__).with_name(name).write_text(f"# {what} Written by make_fabric.py.\n{text}")


if __name__ == "__main__":
    nodes = [node(number) for number in range(LEAVES * NODES_PER_LEAF)]
    write("fabric-64.yaml", "64 nodes of 8 GPUs, 16 leaves of 4 under 2 spines.", nodes)
    pods = [
        pod(namespace, gang, rank, len(hosts), host, gpus)
        for namespace, gang, hosts, gpus in RUNNING
        for rank, host in enumerate(hosts)
    ]
    write("running.yaml", "What runs on the fabric already.", pods)
