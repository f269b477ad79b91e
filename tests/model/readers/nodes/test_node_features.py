"""What nodes can do for data on its way to GPUs: by agents or labels, asked for by annotation."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.problems import BadInput
from fourleaf.model.readers import Source, read
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain

PREFIX = "topology.scheduler/"
Body = dict[str, Any]


def node(name: str, **labels: str) -> Body:
    """A ready node of 8 GPUs with labels of ours."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {PREFIX + key: value for key, value in labels.items()},
        },
        "status": {
            "allocatable": {"nvidia.com/gpu": "8", "cpu": "64", "memory": "1Ti", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def status(name: str, link_layer: str, *modules: str, state: str = "Active") -> Body:
    """What the agent of a node of 8 GPUs found: one port, and modules."""
    port = {"name": "mlx5_0/1", "linkLayer": link_layer, "state": state}
    return {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": name},
        "status": {
            "gpus": [{"index": i, "uuid": f"GPU-{name}-{i}"} for i in range(8)],
            "topology": {"ports": [port], "modules": list(modules)},
        },
    }


def pod(features: str) -> Body:
    """A pod of 8 GPUs that asks for features."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "namespace": "ml",
            "annotations": {PREFIX + "node-features": features},
        },
        "spec": {
            "schedulerName": "topology-aware-scheduler",
            "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "8"}}}],
        },
        "status": {"phase": "Pending"},
    }


CLUSTER = (
    node("plain"),
    *(node("down"), status("down", "InfiniBand", "nvidia_peermem", state="Down")),
    *(node("denied", gpudirect="false"), status("denied", "Ethernet", "nvidia_peermem")),
    *(node("fast"), status("fast", "InfiniBand", "nvidia_peermem")),
    *(node("roce"), status("roce", "Ethernet", "nvidia_fs")),
    node("labelled", cufile="true", gpudirect="true"),
)
"""InfiniBand: `fast`. GPUDirect: `fast` and `labelled`, not `denied`. cuFile: the last two."""


def nodes_for(features: str) -> set[str]:
    """All nodes that a pod may have, one after the other taken away from it."""
    found: set[str] = set()
    while True:
        cluster = [one for one in CLUSTER if one["metadata"]["name"] not in found]
        snapshot = read([Source("in", objects=[*cluster, pod(features)])]).snapshot
        plan = solve(snapshot)
        if not plan.placements:
            (waits,) = explain(snapshot, plan).waiting
            assert waits.reason.kind == "NoMatchingNodes"
            return found
        ((_, name),) = plan.placements[0].pods
        found.add(name)


@pytest.mark.parametrize(
    ("features", "nodes"),
    [
        ("infiniband", {"fast"}),
        ("gpudirect", {"fast", "labelled"}),
        ("cufile", {"roce", "labelled"}),
        ("gpudirect, cufile", {"labelled"}),
        ("infiniband,cufile", set()),
    ],
)
def test_a_pod_gets_nodes_that_have_what_it_asks_for(features: str, nodes: set[str]) -> None:
    """A port that is down is none, and what the operator says of a node is what counts."""
    assert nodes_for(features) == nodes


@pytest.mark.parametrize("features", ["rdma", "", "cufile,"])
def test_what_is_no_feature_is_refused(features: str) -> None:
    """With those that there are."""
    with pytest.raises(BadInput, match="node-features") as refused:
        read([Source("in", objects=[node("plain"), pod(features)])])
    assert "cufile, gpudirect, infiniband" in str(refused.value)
