"""The nodes of Alibaba's cluster-trace-gpu-v2023 (openb): no topology is known of them."""

from __future__ import annotations

from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources
from fourleaf.simulator.readers.folder import read

FILE = "openb_node_list_gpu_node.csv"
MIB = 2**20
SLOTS = 110
"""Pod slots of a node, the kubelet's default."""


def fabric() -> Fabric:
    """Every node with GPUs as a leaf of its own under one spine, in the order of the file."""
    return Fabric(tuple(read(FILE, _leaf)))


def _leaf(row: dict[str, str]) -> Leaf:
    offer = Resources(
        gpus=int(row["gpu"]),
        cpu=int(row["cpu_milli"]),
        memory=int(row["memory_mib"]) * MIB,
        pods=SLOTS,
    )
    name = row["sn"]
    return Leaf(name, "openb", (Node(name, name, "openb", offer, product=row["model"]),))
