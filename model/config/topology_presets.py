"""Presets: the node labels by which clouds and tools name leaf, spine and what is coarser."""

from __future__ import annotations

from collections.abc import Mapping

HOST_LEVELS = frozenset(
    {
        "kubernetes.io/hostname",
        "cloud.google.com/gce-topology-host",
        "oci.oraclecloud.com/rdma.host_id",
    }
)
"""Levels that name one host: finer than a leaf, so never a leaf."""

PLAIN = "plain"
PRESETS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    PLAIN: (("topology.scheduler/spine", "topology.scheduler/leaf"),),
    "topograph": (
        (
            "fabric.topograph.run/tier-2",
            "fabric.topograph.run/tier-1",
            "fabric.topograph.run/tier-0",
        ),
    ),
    "nvidia-legacy": (
        (
            "network.topology.nvidia.com/core",
            "network.topology.nvidia.com/spine",
            "network.topology.nvidia.com/leaf",
        ),
        (
            "network.topology.nvidia.com/datacenter",
            "network.topology.nvidia.com/spine",
            "network.topology.nvidia.com/block",
        ),
    ),
    "gke": (("cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock"),),
    "eks": (
        (
            "topology.k8s.aws/network-node-layer-1",
            "topology.k8s.aws/network-node-layer-2",
            "topology.k8s.aws/network-node-layer-3",
        ),
    ),
    "oci": (
        (
            "oci.oraclecloud.com/rdma.hpc_island_id",
            "oci.oraclecloud.com/rdma.network_block_id",
            "oci.oraclecloud.com/rdma.local_block_id",
        ),
    ),
    "nebius": (
        (
            "topology.nebius.com/gpu-cluster-id",
            "topology.nebius.com/tier-2",
            "topology.nebius.com/tier-1",
        ),
    ),
    "aks": (("topology.kubernetes.io/zone", "kubernetes.azure.com/agentpool"),),
}
"""Preset -> label sets, each coarse to fine; a preset with two sets takes the commoner one.

An agent pool of AKS is one scale set, within which InfiniBand reaches; Azure names no switch.
"""
COARSE_PRESETS = frozenset({"aks"})
"""Presets that name pools of machines, not switches: detected where no other fits any node."""
