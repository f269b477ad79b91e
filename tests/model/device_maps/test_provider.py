"""Whose nodes they are, and which come from one pool."""

from __future__ import annotations

import pytest

from fourleaf.model.device_maps.provider import Provider, cluster_provider, pool_of, provider_of


@pytest.mark.parametrize(
    ("name", "labels", "provider", "pool"),
    [
        ("aks-workerpool-25338008-vmss000000", {}, Provider.AKS, "workerpool"),
        ("aks-gpu-12345678-vmss00000a", {"agentpool": "gpu"}, Provider.AKS, "gpu"),
        ("n1", {"kubernetes.azure.com/agentpool": "gpu"}, Provider.AKS, "gpu"),
        ("gke-prod-a100-pool-1a2b3c4d-x9z8", {}, Provider.GKE, "gke-prod-a100-pool-1a2b3c4d"),
        (
            "gke-prod-a100-pool-1a2b3c4d-x9z8",
            {"cloud.google.com/gke-nodepool": "a100-pool"},
            Provider.GKE,
            "a100-pool",
        ),
        ("ip-10-0-1-23.eu-west-1.compute.internal", {}, Provider.EKS, ""),
        (
            "ip-10-0-1-23.ec2.internal",
            {"eks.amazonaws.com/nodegroup": "p5"},
            Provider.EKS,
            "p5",
        ),
        ("i-0a1b", {"alpha.eksctl.io/nodegroup-name": "p4"}, Provider.EKS, "p4"),
        ("gpu-node-3", {}, Provider.OTHER, "gpu-node"),
        ("rack7", {}, Provider.OTHER, "rack"),
        ("ip-pool-4", {}, Provider.OTHER, "ip-pool"),
        ("dgx", {}, Provider.OTHER, ""),
    ],
)
def test_a_node(name: str, labels: dict[str, str], provider: Provider, pool: str) -> None:
    """Labels count first, then the name."""
    assert provider_of(name, labels) is provider
    assert pool_of(name, labels) == pool


def test_a_cluster_is_what_most_of_its_nodes_are() -> None:
    """Two of three are of GKE; without nodes, nobody knows."""
    names = ("gke-a-b-1a2b3c4d-aaaa", "gke-a-b-1a2b3c4d-bbbb", "edge-1")
    assert cluster_provider((name, {}) for name in names) is Provider.GKE
    assert cluster_provider(()) is Provider.OTHER
