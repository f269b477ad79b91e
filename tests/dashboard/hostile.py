"""Names that try to be more than names, wherever the readers let such names through."""

from __future__ import annotations

from typing import Any

SCRIPT = '"><script>window.hacked=1</script><img/src=x/onerror="window.hacked=1">'
QUOTES = "a'/onmouseover='window.hacked=1'/b=\"`${1}{{7*7}}"


def objects() -> list[dict[str, Any]]:
    """Two nodes in a leaf and a spine, a gang that runs and one that waits with such names."""
    nodes = [_node(name, SCRIPT, QUOTES) for name in ("n1", "n2")]
    runs = pod("runs-0", SCRIPT, "n1")
    waits = pod("waits-0", QUOTES, "")
    waits["status"] = {
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": f"NoFreeCapacity: {SCRIPT}. To unblock: {SCRIPT}",
            }
        ]
    }
    return [*nodes, runs, waits]


def _node(name: str, leaf: str, spine: str) -> dict[str, Any]:
    amounts = {"nvidia.com/gpu": "8", "cpu": "64", "memory": "512Gi", "pods": "110"}
    labels = {"fabric.topograph.run/tier-0": leaf, "fabric.topograph.run/tier-1": spine}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, gang: str, node: str) -> dict[str, Any]:
    """A pod of four GPUs of a gang of one; it waits where `node` is ""."""
    annotations = {"topology.scheduler/gang": gang, "topology.scheduler/gang-size": "1"}
    limits = {"nvidia.com/gpu": "4"}
    spec: dict[str, Any] = {
        "schedulerName": "gpu-scheduler",
        "containers": [{"name": "c", "resources": {"limits": limits}}],
    }
    if node:
        spec["nodeName"] = node
    metadata = {
        "namespace": "ml",
        "name": name,
        "annotations": annotations,
        "creationTimestamp": "2025-11-21T05:00:00Z",
    }
    status = {"phase": "Running" if node else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
